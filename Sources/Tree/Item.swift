public import Bytes

/// The type of an item.
public enum Kind: UInt8, Sendable {
  case file
  case folder
  case link
  case fifo
  case socket
  case characterDevice
  case blockDevice
  /// The kind of a name in a listing that could not be determined. No item has it.
  case unknown
}

/// The attributes of an item, as in stat(2).
public struct Attributes: Sendable {
  public var inode: UInt64
  public var kind: Kind
  /// The permission, set-ID and sticky bits.
  public var permissions: UInt16
  public var links: UInt32
  public var owner: UInt32
  public var group: UInt32
  /// The size, in bytes.
  public var size: Int64
  /// The allocated size, in units of 512 bytes.
  public var allocated: Int64
  public var accessed: Timestamp
  public var modified: Timestamp
  public var changed: Timestamp
  /// The device number of a device file.
  public var device: UInt64 = 0
  /// Whether opening the file may change the size.
  public var isPreliminary = false

  package init(
    inode: UInt64, kind: Kind, permissions: UInt16, links: UInt32, owner: UInt32, group: UInt32, size: Int64,
    allocated: Int64, accessed: Timestamp, modified: Timestamp, changed: Timestamp, device: UInt64 = 0
  ) {
    self.inode = inode
    self.kind = kind
    self.permissions = permissions
    self.links = links
    self.owner = owner
    self.group = group
    self.size = size
    self.allocated = allocated
    self.accessed = accessed
    self.modified = modified
    self.changed = changed
    self.device = device
  }
}

/// An element of the tree: a real file, an entry of an archive, a view.
///
/// Items are cheap to create. The views beside them are added by `Tree`. An item implements only what it supports. All
/// methods are thread-safe. Methods with a `BlockingMode` parameter throw `Fault.later` instead of blocking an
/// immediate caller.
public protocol Item: AnyObject, Sendable {
  /// The inode number. Unique to the item, and stable across mounts of an unchanged source.
  var inode: UInt64 { get }
  var kind: Kind { get }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes

  /// Opens a file's bytes. With `pinned`, reads throw if the file changes afterwards.
  func open(pinned: Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource

  /// Opens a file's bytes. The first bytes may be available before the last are generated. `isPatient` returns whether
  /// the reader can do without the exact size until then.
  func openEarly(_ isPatient: @Sendable () -> Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource

  /// Determines a file's size by generating the file, if its attributes contain an estimate. A file whose first bytes
  /// are available long before its end keeps the estimate, unless `atAnyCost`.
  func findSize(atAnyCost: Bool, _ blocking: BlockingMode) throws(Fault)

  /// Determines the size if reading the source's header suffices and the file is not listed by default. A caller that
  /// requests the sizes of all listed files must not wait for each header.
  func measureSize(_ blocking: BlockingMode) throws(Fault)

  /// Returns the target of a symbolic link, as recorded.
  func linkTarget(_ blocking: BlockingMode) throws(Fault) -> [UInt8]

  /// Returns the entry of a directory with this name. Returns `nil` if it does not exist.
  func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult?

  /// Returns the attributes of the entry with this name. Returns `nil` if it does not exist.
  func attributes(of name: ListedName, _ blocking: BlockingMode) throws(Fault) -> Attributes?

  /// Returns whether an entry of a real directory has subdirectories of these names. Does not examine it further.
  func hasFolders(_ names: [FileName], in entry: FileName, _ blocking: BlockingMode) throws(Fault) -> Bool

  /// Starts a listing of a directory.
  func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor

  /// Returns an extended attribute, xattr(7), of the item itself.
  func extendedAttribute(_ name: FileName, _ blocking: BlockingMode) throws(Fault) -> [UInt8]
  /// Returns the names of the extended attributes, each NUL-terminated.
  func extendedAttributeNames(_ blocking: BlockingMode) throws(Fault) -> [UInt8]

  /// Returns the owner of the bytes, for an item with `attributes`. Returns `nil` if there are several.
  func soleOwner(_ attributes: Attributes) -> UInt32?

  /// The identifier of the item's content, independent of the state of its source. An item with the same content under
  /// the same name is the same item. For a directory, whose entries change, it identifies the kind of directory. `nil`
  /// for a real file, which is identified by its inode number.
  var content: UInt64? { get }

  /// The identifier of the state of the item's source and of everything from which that is derived. 0 for a real file.
  var sourceState: UInt64 { get }

  /// Opens a file's bytes, like `open`, to continue reading the same content in another state of the source. Bytes that
  /// may differ are read and verified.
  func openAgain(_ blocking: BlockingMode) throws(Fault) -> any ByteSource

  /// Whether `content` identifies recorded properties of the bytes, such as a size and CRC, not the bytes themselves.
  var claimsItsContent: Bool { get }

  /// Returns an identifier of this state of the item's bytes, which changes whenever they do.
  func revision(_ attributes: Attributes) -> UInt64

  /// Whether neither the item nor anything below it can change while it exists.
  var isImmutable: Bool { get }

  /// Whether a listing of the directory shows views of its files. True for files that a user created, not for those of
  /// a view.
  var listsViews: Bool { get }

  /// The cost of the attributes of a directory's entries.
  var attributeCost: AttributeCost { get }

  /// Throws ESTALE if the item is derived from a state of a file that is not the current one. Relies on a recent check,
  /// unless `isDoubted`.
  func checkCurrent(isDoubted: Bool, _ blocking: BlockingMode) throws(Fault)

  /// The first bytes of a file that are known without generating it. Views are chosen by these, so that a lookup
  /// generates nothing. `nil` if views are chosen by the content.
  var knownHead: [UInt8]? { get }

  /// Returns the access control list. Returns `nil` if the mode suffices. A view has its source's list. An item derived
  /// from several sources has none, but `CommonRights`. Used only in mounts shared by several users. May block on the
  /// disk.
  func accessList() throws(Fault) -> AccessList?

  /// Returns the `user.ffmount.*` attributes of an item of a view. Returns `nil` for a real file.
  func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance?

  /// Returns the provenance as far as it is known. Opens no archive, converts nothing, and starts no worker.
  func knownProvenance(_ blocking: BlockingMode) throws(Fault) -> Provenance?
}

/// The cost of the attributes of a directory's entries, in addition to listing it.
public enum AttributeCost: Sendable {
  /// None: the attributes come with the names and are final.
  case none
  /// A system call or some memory for each entry.
  case small
  /// Bytes have to be decoded. A listing determines the attributes only for a caller that needs most of them.
  case large
}

/// An item and its attributes, from one system call.
public struct LookupResult: Sendable {
  public let item: any Item
  public let attributes: Attributes
  /// The access of the requesting process to a view.
  var secrecy = Secrecy.none

  public init(_ item: any Item, _ attributes: Attributes) {
    self.item = item
    self.attributes = attributes
  }

  /// Creates the result of a lookup that the kernel does not cache, because it depends on the caller.
  package init(uncached item: any Item, _ attributes: Attributes) {
    self.init(item, attributes)
    secrecy = .guarded
  }
}

/// The origin and state of a derived item.
public struct Provenance: Sendable {
  public enum State: String, Sendable {
    case exact
    case estimate
    /// A container's checksum has not been verified yet, or does not match and is ignored.
    case unverified
    case failed
  }

  /// The source's path below the mountpoint.
  public var source: String
  public var view: String
  public var state: State
  /// The error, in one sentence. `nil` if there is none.
  public var error: String?
  /// A correct but possibly unexpected property, in one sentence. `nil` for most items.
  package var remark: String?
  /// Other paths of the same content in the source, one per line. `nil` for most items.
  package var also: String?

  package init(
    source: String, view: String, state: State, error: String? = nil, remark: String? = nil, also: String? = nil
  ) {
    self.source = source
    self.view = view
    self.state = state
    self.error = error
    self.remark = remark
    self.also = also
  }

  /// Adopts the failure of the source, unless the item itself has failed.
  package mutating func adopt(_ source: Provenance?) {
    guard state != .failed, let source, source.state == .failed else { return }
    state = .failed
    error = source.error
  }
}

/// A listing of a directory's names.
public protocol DirectoryCursor: AnyObject, Sendable {
  /// Returns some entries after the offset `place`, which is 0 or an entry's `next`. Empty at the end.
  func entries(after place: Int64, _ blocking: BlockingMode) throws(Fault) -> [ListedEntry]

  /// Whether a listing continues in the state in which it started when the source changes. True if a change can move
  /// entries to other offsets.
  var outlivesChanges: Bool { get }
}

extension DirectoryCursor {
  public var outlivesChanges: Bool { false }
}

/// An entry of a directory listing.
public struct ListedEntry: Sendable {
  public let name: ListedName
  public let inode: UInt64
  public let kind: Kind
  /// The offset after this entry.
  public let next: Int64
  /// Whether this is a view beside a real file that the source lists itself, as a mounted server does.
  public let isView: Bool

  public init(name: ListedName, inode: UInt64, kind: Kind, next: Int64, isView: Bool = false) {
    self.name = name
    self.inode = inode
    self.kind = kind
    self.next = next
    self.isView = isView
  }
}

extension Item {
  public func soleOwner(_ attributes: Attributes) -> UInt32? { attributes.owner }
  public func open(pinned: Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    throw kind == .folder ? .isFolder : .notOpened
  }
  public func openEarly(_ isPatient: @Sendable () -> Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    try open(pinned: false, blocking)
  }
  public func findSize(atAnyCost: Bool, _ blocking: BlockingMode) throws(Fault) {}
  public func measureSize(_ blocking: BlockingMode) throws(Fault) {}
  public func linkTarget(_ blocking: BlockingMode) throws(Fault) -> [UInt8] { throw .notLink }
  public func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? { throw .notFolder }
  public func attributes(of name: ListedName, _ blocking: BlockingMode) throws(Fault) -> Attributes? {
    try child(named: name.fileName, blocking)?.attributes
  }
  public func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor { throw .notFolder }
  public func hasFolders(_ names: [FileName], in entry: FileName, _ blocking: BlockingMode) throws(Fault) -> Bool {
    false
  }
  public func extendedAttribute(_ name: FileName, _ blocking: BlockingMode) throws(Fault) -> [UInt8] {
    throw .noAttribute
  }
  public func extendedAttributeNames(_ blocking: BlockingMode) throws(Fault) -> [UInt8] { [] }
  public func revision(_ attributes: Attributes) -> UInt64 { inode }
  public var listsViews: Bool { true }
  public var attributeCost: AttributeCost { isImmutable ? .none : .small }
  public var content: UInt64? { nil }
  public var sourceState: UInt64 { 0 }
  public func openAgain(_ blocking: BlockingMode) throws(Fault) -> any ByteSource { try open(pinned: false, blocking) }
  public var claimsItsContent: Bool { false }
  public func checkCurrent(isDoubted: Bool, _ blocking: BlockingMode) throws(Fault) {}
  public var knownHead: [UInt8]? { nil }
  public func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? { nil }
  public func knownProvenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? { try provenance(blocking) }
}
