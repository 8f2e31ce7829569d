public import Bytes
internal import Glibc

/// An event in a watched directory, or of a watched file, as inotify(7) reports it.
public struct FolderNotice: Sendable {
  /// The events of a notice, as bits of inotify's mask.
  public struct Events: OptionSet, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    private init(_ event: Int) { self.init(rawValue: UInt32(event)) }

    public static let modified = Events(Int(IN_MODIFY))
    public static let attributes = Events(Int(IN_ATTRIB))
    public static let movedFrom = Events(Int(IN_MOVED_FROM))
    public static let movedTo = Events(Int(IN_MOVED_TO))
    public static let created = Events(Int(IN_CREATE))
    public static let removed = Events(Int(IN_DELETE))
    /// The directory itself was removed.
    public static let selfRemoved = Events(Int(IN_DELETE_SELF))
    /// The directory itself was renamed.
    public static let selfMoved = Events(Int(IN_MOVE_SELF))
    /// The directory's file system was unmounted.
    public static let unmounted = Events(Int(IN_UNMOUNT))
    /// Notices were lost.
    public static let overflow = Events(Int(IN_Q_OVERFLOW))
    /// The directory is no longer watched.
    public static let ignored = Events(Int(IN_IGNORED))

    /// The events that end the watch of a directory.
    public static let ends: Events = [.selfRemoved, .selfMoved, .unmounted, .ignored]
    static let wanted: Events = [
      .modified, .attributes, .movedFrom, .movedTo, .created, .removed, .selfRemoved, .selfMoved,
    ]
  }

  /// The number of the watch. Negative if notices were lost.
  public let number: Int32
  public let events: Events
  /// Connects the two notices of a rename. Otherwise 0.
  public let cookie: UInt32
  /// The name in the directory. Empty for the directory itself.
  public let name: FileName

  /// Whether notices were lost.
  public var isLost: Bool { number < 0 }
}
