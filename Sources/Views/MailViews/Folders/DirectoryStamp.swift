internal import Bytes
internal import Files
internal import Tree

/// The state of a directory when it was read, to detect changes. Added, removed and renamed entries change the
/// directory's times. Changes of its files are detected by a watch, if the kernel reports them.
struct DirectoryStamp: Sendable {
  let item: any Item
  /// The mtime and the ctime.
  let times: [Timestamp]
  /// Whether any later change shows in the times.
  private(set) var isSettled = false
  /// The watch of its files. Nil if they are not watched.
  private let watch: ChangeWatch?

  /// Records the times. Must be called before the directory is read.
  ///
  /// - Parameter notesFiles: Whether to watch its files for changes, if the kernel reports them.
  init(_ folder: any Item, notesFiles: Bool = false) throws(Fault) {
    item = folder
    watch = notesFiles ? (folder as? RealFolder)?.watchChanges() : nil
    times = try Self.times(of: folder)
  }

  private static func times(of folder: any Item) throws(Fault) -> [Timestamp] {
    let attributes = try folder.attributes(.blocking)
    return [attributes.modified, attributes.changed]
  }

  /// The files that have changed since.
  var changes: ChangeWatch.Changes { watch?.changes ?? .named([]) }
  /// Whether any files have changed since.
  var hasChanges: Bool { watch?.hasChanges ?? false }

  /// Returns whether the directory is certainly unchanged.
  func isPresent() throws(Fault) -> Bool {
    if !isSettled || hasChanges { return false }
    return try Self.times(of: item) == times
  }

  /// Records that the directory was read after `before`. Returns whether its times are unchanged.
  mutating func settle(_ before: Timestamp) throws(Fault) -> Bool {
    let isSame = try Self.times(of: item) == times
    isSettled = isSame && times.allSatisfy { $0.isPast(at: before) }
    return isSame
  }
}
