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
}

/// What stat(2) shows of an item.
public struct Attributes: Sendable {
  public var inode: UInt64
  public var kind: Kind
  /// Permission, set-id and sticky bits.
  public var permissions: UInt16
  public var links: UInt32
  public var owner: UInt32
  public var group: UInt32
  /// In bytes.
  public var size: Int64
  /// In units of 512 bytes.
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

/// Anything in the tree: a real file, an entry of an archive, a view.
///
/// Items are cheap to create and do not know the views beside them: `Tree` adds those. An item implements only what it
/// supports. All methods are thread-safe; those that take a `Patience` throw `Fault.later` rather than block an
/// impatient caller.
public protocol Item: AnyObject, Sendable {
  /// Stable across mounts of an unchanged source, and unique to the item.
  var inode: UInt64 { get }
  var kind: Kind { get }

  func attributes(_ patience: Patience) throws(Fault) -> Attributes

  /// Opens a file's bytes. With `pinned`, a later change of the file is a fault.
  func open(pinned: Bool, _ patience: Patience) throws(Fault) -> any ByteSource

  /// Opens a file's bytes, of which the first may be there before the last are made. `isPatient`: whether the reader does
  /// without the exact size until then.
  func openEarly(_ isPatient: @Sendable () -> Bool, _ patience: Patience) throws(Fault) -> any ByteSource

  /// Determines a file's size, if its attributes have an estimate, by making the file. A file whose first bytes are
  /// available long before its end keeps the estimate, unless `atAnyCost`.
  func findSize(atAnyCost: Bool, _ patience: Patience) throws(Fault)

  /// The same, where it takes no more than a look at the file that it is made from, and the name is not one that everybody
  /// sees who lists the folder: who asks for the sizes of all listed files is not to wait for so many looks.
  func measureSize(_ patience: Patience) throws(Fault)

  /// The target of a symbolic link, as recorded.
  func linkTarget(_ patience: Patience) throws(Fault) -> [UInt8]

  /// The entry of a folder with this name; nil if there is none.
  func child(named name: FileName, _ patience: Patience) throws(Fault) -> Found?

  /// The attributes of that entry; nil if there is none.
  func attributes(of name: ListedName, _ patience: Patience) throws(Fault) -> Attributes?

  /// Whether a real folder's entry is a folder that has folders of these names. It is not looked at more closely.
  func hasFolders(_ names: [FileName], in entry: FileName, _ patience: Patience) throws(Fault) -> Bool

  /// Starts listing a folder.
  func listing(_ patience: Patience) throws(Fault) -> any Listing

  /// An extended attribute, xattr(7), of the item itself.
  func extendedAttribute(_ name: FileName, _ patience: Patience) throws(Fault) -> [UInt8]
  /// NUL-terminated names.
  func extendedAttributeNames(_ patience: Patience) throws(Fault) -> [UInt8]

  /// The owner of the bytes, for an item with `attributes`; nil if there are several.
  func soleOwner(_ attributes: Attributes) -> UInt32?

  /// Identifies what the item shows, independent of the state of its source: an item with the same content under the
  /// same name is the same item. For a folder, whose entries change, it identifies the kind of folder. nil for a real
  /// file, which is identified by its inode.
  var content: UInt64? { get }

  /// Identifies the state of the source that the item was made from, and of everything that was made from in turn; 0
  /// for a real file.
  var sourceState: UInt64 { get }

  /// Opens a file's bytes, as `open` does, to continue reading the same content in another state of the source. Bytes
  /// not certain to be the same are read through and verified.
  func openAgain(_ patience: Patience) throws(Fault) -> any ByteSource

  /// Whether `content` identifies recorded properties of the bytes, not the bytes themselves.
  var claimsItsContent: Bool { get }

  /// Identifies this state of the item's bytes: changes whenever they do.
  func revision(_ attributes: Attributes) -> UInt64

  /// Whether neither the item nor anything below it can change while it exists.
  var isImmutable: Bool { get }

  /// Whether a listing of the folder shows the views of its files: true for files that a user made, not for those of a
  /// view.
  var listsViews: Bool { get }

  /// The cost of the attributes of a folder's entries.
  var attributeCost: AttributeCost { get }

  /// Throws ESTALE when the item was made from a state of a file that is not the present one. A recent check is relied
  /// on, unless `isDoubted`.
  func checkCurrent(isDoubted: Bool, _ patience: Patience) throws(Fault)

  /// The first bytes of a file, as far as they are known without making it: views are chosen by these, so that a lookup
  /// makes nothing. nil if views are chosen by the content.
  var knownHead: [UInt8]? { get }

  /// The access control list, if the mode is not sufficient; nil if it is. A view has its source's; an item made from
  /// several has none, but `CommonRights`. Used only in mounts shared by several users. May block on the disk.
  func accessList() throws(Fault) -> AccessList?

  /// The `user.ffmount.*` attributes of an item of a view; nil for a real file.
  func provenance(_ patience: Patience) throws(Fault) -> Provenance?
}

/// The cost of the attributes of the entries of a folder, in addition to listing it.
public enum AttributeCost: Sendable {
  /// Nothing: they come with the names, and are final.
  case none
  /// A system call or some memory each.
  case small
  /// Bytes have to be decoded: a listing determines them only for a caller that needs most of them.
  case large
}

/// An item and its attributes, from one system call.
public struct Found: Sendable {
  public let item: any Item
  public let attributes: Attributes
  /// For a view: what the requesting process may see.
  var secrecy = Secrecy.none

  public init(_ item: any Item, _ attributes: Attributes) {
    self.item = item
    self.attributes = attributes
  }
}

/// The origin and the state of a virtual item.
public struct Provenance: Sendable {
  public enum State: String, Sendable {
    case exact
    case estimate
    /// A checksum of a container has not been compared with it yet, or does not agree and is passed over.
    case unverified
    case failed
  }

  /// The source's path below the mountpoint.
  public var source: String
  public var view: String
  public var state: State
  /// One sentence; nil if there is no error.
  public var error: String?
  /// One sentence on what is as it should be, and perhaps not as it was expected; nil for most.
  package var remark: String?
  /// Where else the same is in the source, a path a line; nil for most.
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

  /// Takes over the failure of the source, unless the item itself has failed.
  package mutating func adopt(_ source: Provenance?) {
    guard state != .failed, let source, source.state == .failed else { return }
    state = .failed
    error = source.error
  }
}

/// An enumeration of a folder's names.
public protocol Listing: AnyObject, Sendable {
  /// Some entries that follow the offset `place`, which is 0 or an entry's `next`; none at the end.
  func entries(after place: Int64, _ patience: Patience) throws(Fault) -> [ListedEntry]

  /// Whether who has begun it reads it to its end, in the state that it was begun in: names move when the source changes.
  var outlivesChanges: Bool { get }
}

extension Listing {
  public var outlivesChanges: Bool { false }
}

public struct ListedEntry: Sendable {
  public let name: ListedName
  public let inode: UInt64
  public let kind: Kind
  /// The offset after this entry.
  public let next: Int64

  public init(name: ListedName, inode: UInt64, kind: Kind, next: Int64) {
    self.name = name
    self.inode = inode
    self.kind = kind
    self.next = next
  }
}

extension Item {
  public func soleOwner(_ attributes: Attributes) -> UInt32? { attributes.owner }
  public func open(pinned: Bool, _ patience: Patience) throws(Fault) -> any ByteSource {
    throw kind == .folder ? .isFolder : .notOpened
  }
  public func openEarly(_ isPatient: @Sendable () -> Bool, _ patience: Patience) throws(Fault) -> any ByteSource {
    try open(pinned: false, patience)
  }
  public func findSize(atAnyCost: Bool, _ patience: Patience) throws(Fault) {}
  public func measureSize(_ patience: Patience) throws(Fault) {}
  public func linkTarget(_ patience: Patience) throws(Fault) -> [UInt8] { throw .notLink }
  public func child(named name: FileName, _ patience: Patience) throws(Fault) -> Found? { throw .notFolder }
  public func attributes(of name: ListedName, _ patience: Patience) throws(Fault) -> Attributes? {
    try child(named: name.fileName, patience)?.attributes
  }
  public func listing(_ patience: Patience) throws(Fault) -> any Listing { throw .notFolder }
  public func hasFolders(_ names: [FileName], in entry: FileName, _ patience: Patience) throws(Fault) -> Bool {
    false
  }
  public func extendedAttribute(_ name: FileName, _ patience: Patience) throws(Fault) -> [UInt8] { throw .noAttribute }
  public func extendedAttributeNames(_ patience: Patience) throws(Fault) -> [UInt8] { [] }
  public func revision(_ attributes: Attributes) -> UInt64 { inode }
  public var listsViews: Bool { true }
  public var attributeCost: AttributeCost { isImmutable ? .none : .small }
  public var content: UInt64? { nil }
  public var sourceState: UInt64 { 0 }
  public func openAgain(_ patience: Patience) throws(Fault) -> any ByteSource { try open(pinned: false, patience) }
  public var claimsItsContent: Bool { false }
  public func checkCurrent(isDoubted: Bool, _ patience: Patience) throws(Fault) {}
  public var knownHead: [UInt8]? { nil }
  public func provenance(_ patience: Patience) throws(Fault) -> Provenance? { nil }
}
