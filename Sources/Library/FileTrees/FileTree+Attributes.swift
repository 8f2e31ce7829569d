internal import Bytes
public import SystemPackage
internal import Tree

extension FileTree {
  /// What something in a tree is.
  public enum Kind: Sendable, Hashable {
    /// A regular file, real or of a view.
    case file
    /// A folder, real or of a view.
    case directory
    /// A symbolic link, which is not followed.
    case symbolicLink
    /// A FIFO, a socket or a device, which is not read.
    case other

    init(_ kind: ItemKind) {
      switch kind {
      case .file: self = .file
      case .folder: self = .directory
      case .link: self = .symbolicLink
      case .fifo, .socket, .characterDevice, .blockDevice: self = .other
      }
    }
  }

  /// A point in time, in UTC.
  public struct Time: Sendable, Hashable, Comparable {
    /// Since 1970 began.
    public let seconds: Int64
    /// 0 to 999,999,999.
    public let nanoseconds: Int32

    /// Makes a time.
    public init(seconds: Int64, nanoseconds: Int32 = 0) {
      self.seconds = seconds
      self.nanoseconds = nanoseconds
    }

    init(_ time: Timestamp) { self.init(seconds: time.seconds, nanoseconds: time.nanoseconds) }

    /// Whether one is earlier.
    public static func < (one: Time, other: Time) -> Bool {
      (one.seconds, one.nanoseconds) < (other.seconds, other.nanoseconds)
    }
  }

  /// How sure it is that something can be read.
  public enum State: Sendable, Hashable {
    /// All is well as far as is known.
    case exact
    /// It is not made yet, and its size is an estimate.
    case estimate
    /// A checksum of it has not been compared yet, or does not agree and is passed over.
    case unverified
    /// Some of it cannot be read.
    case failed
  }

  /// What is known of a file or folder.
  public struct Attributes: Sendable, Hashable {
    /// What it is.
    public let kind: Kind
    /// In bytes.
    public let size: Int64
    /// Whether that is certain before it is made.
    public let isSizeExact: Bool
    /// When it was made; nil for a view, and where the file system does not record it.
    public let created: Time?
    /// When its bytes were last changed; of a view, what its source says.
    public let modified: Time
    /// When it was last read, as far as the file system records it.
    public let accessed: Time
    /// When its bytes or attributes were last changed.
    public let changed: Time
    /// The permission, set-id and sticky bits.
    public let permissions: FilePermissions
    /// The number of the user that it belongs to.
    public let owner: UInt32
    /// The number of the group that it belongs to.
    public let group: UInt32
    /// The number of its names.
    public let linkCount: Int
    /// The number by which the tree tells it from other files: all names of one file have the same.
    public let inode: UInt64
    /// How sure it is that it can be read.
    public let state: State
    /// Which view it is, or is in, such as `contents`; nil for what is real.
    public let view: String?
    /// What the view was made of, relative to the root; nil for what is real.
    public let source: FilePath?
    /// Why it cannot be read, in one sentence; nil if nothing is known to be wrong.
    public let error: String?

    /// Whether it is made by a view, and so cannot be changed.
    public var isView: Bool { view != nil }
  }

  /// What is known of a file or folder.
  ///
  /// - Parameters:
  ///   - exactSize: whether a file whose size is an estimate is made to know it, which may take as long as reading it.
  ///   - followsLinks: whether a symbolic link in the last component is followed.
  /// - Throws: `notFound`, and what keeps the way to it from being read.
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
  /// The attributes of what has been found already, as they are now. Blocks.
  init(of place: Place, isExact: Bool) throws(Fault) {
    let attributes = try place.attributes(isExact: isExact, .blocking)
    // An open file may have lost its name.
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
