internal import Bytes
public import SystemPackage
internal import Tree

extension FileTree {
  /// The type of an item in a tree.
  public enum Kind: Sendable, Hashable {
    /// A regular file, real or in a view.
    case file
    /// A directory, real or in a view.
    case directory
    /// A symbolic link that was not followed.
    case symbolicLink
    /// A FIFO, a socket or a device. These cannot be read.
    case other

    init(_ kind: ItemKind) {
      switch kind {
      case .file: self = .file
      case .folder: self = .directory
      case .link: self = .symbolicLink
      case .fifo, .socket, .characterDevice, .blockDevice, .unknown: self = .other
      }
    }
  }

  /// A point in time, in UTC.
  public struct Time: Sendable, Hashable, Comparable {
    /// The number of seconds since the start of 1970.
    public let seconds: Int64
    /// The number of nanoseconds, from 0 to 999,999,999.
    public let nanoseconds: Int32

    /// Creates a time.
    public init(seconds: Int64, nanoseconds: Int32 = 0) {
      self.seconds = seconds
      self.nanoseconds = nanoseconds
    }

    init(_ time: Timestamp) { self.init(seconds: time.seconds, nanoseconds: time.nanoseconds) }

    /// Returns whether `one` is earlier than `other`.
    public static func < (one: Time, other: Time) -> Bool {
      (one.seconds, one.nanoseconds) < (other.seconds, other.nanoseconds)
    }
  }

  /// The certainty that an item can be read.
  public enum State: Sendable, Hashable {
    /// No problems are known.
    case exact
    /// The item has not been made yet, and its size is an estimate.
    case estimate
    /// A checksum has not been verified yet, or a mismatch is ignored.
    case unverified
    /// A part of the item cannot be read.
    case failed
  }

  /// The attributes of a file or directory.
  public struct Attributes: Sendable, Hashable {
    /// The type of the item.
    public let kind: Kind
    /// The size, in bytes.
    public let size: Int64
    /// Whether the size is exact. If not, the item has not been made yet.
    public let isSizeExact: Bool
    /// The time of creation. `nil` for a view, or if the file system does not record it.
    public let created: Time?
    /// The time of the last change of the bytes. For a view, it depends on the source.
    public let modified: Time
    /// The time of the last access, as far as the file system records it.
    public let accessed: Time
    /// The time of the last change of bytes or attributes.
    public let changed: Time
    /// The permission, set-id and sticky bits.
    public let permissions: FilePermissions
    /// The user ID of the owner.
    public let owner: UInt32
    /// The group ID.
    public let group: UInt32
    /// The number of names (hard links).
    public let linkCount: Int
    /// The inode number, which identifies the item in the tree. All names of a file have the same one.
    public let inode: UInt64
    /// The certainty that the item can be read.
    public let state: State
    /// The kind of view that contains the item, such as `contents`. `nil` for a real item.
    public let view: String?
    /// The source of the view, relative to the root. `nil` for a real item.
    public let source: FilePath?
    /// The reason why the item cannot be read, in one sentence. `nil` if no problem is known.
    public let error: String?

    /// Whether the item is made by a view, and so cannot be changed.
    public var isView: Bool { view != nil }
  }

  /// Returns the attributes of a file or directory.
  ///
  /// - Parameters:
  ///   - exactSize: Whether a file with an estimated size is made to determine the size. This may take as long as
  ///     reading the file.
  ///   - followsLinks: Whether a symbolic link in the last component is followed.
  /// - Throws: `notFound`, and the errors of reading the parent directories.
  public func attributes(
    of path: FilePath, exactSize: Bool = false, followsLinks: Bool = true
  ) async throws(FileTreeError) -> Attributes {
    try await run(path) { [self] () throws(Fault) in
      let place = try place(path, followsLast: followsLinks)
      return try Attributes(of: place, isExact: exactSize)
    }
  }
}

extension FileTree.Attributes {
  /// Creates the current attributes of an item that has been found. Blocks.
  init(of place: ResolvedPath, isExact: Bool) throws(Fault) {
    let attributes = try place.attributes(isExact: isExact, .blocking)
    // The name of an open file may have been removed.
    let created = try unlessDelayed { () throws(Fault) in try place.created() }
    self.init(attributes, created ?? nil, try place.provenance(.blocking))
  }

  private init(_ attributes: ItemAttributes, _ created: Timestamp?, _ provenance: Provenance?) {
    kind = FileTree.Kind(attributes.kind)
    size = attributes.size
    isSizeExact = !attributes.isPreliminary
    self.created = created.map { FileTree.Time($0) }
    modified = FileTree.Time(attributes.modified)
    accessed = FileTree.Time(attributes.accessed)
    changed = FileTree.Time(attributes.changed)
    permissions = FilePermissions(rawValue: CInterop.Mode(attributes.permissions))
    owner = attributes.owner
    group = attributes.group
    linkCount = Int(attributes.links)
    inode = attributes.inode
    switch provenance?.state {
    case .failed: state = .failed
    case .estimate: state = .estimate
    case .unverified: state = .unverified
    case .exact, nil: state = attributes.isPreliminary ? .estimate : .exact
    }
    view = provenance?.view
    source = provenance.map { FilePath($0.source) }
    error = provenance?.error
  }
}
