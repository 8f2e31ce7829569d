public import Bytes

/// What sort of thing stands at a place in the tree.
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
  /// What device a device file stands for.
  public var device: UInt64 = 0
  /// Whether opening the file may show it to have another size.
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

/// Something that can stand in the tree: a real file, an entry of an archive, a view.
///
/// Items are cheap to make and know nothing of their neighbours' views: `Tree` adds those. What an item cannot do, it does not
/// implement. Every method may be called by several threads at a time; those that take a `Patience` throw `Fault.later`
/// rather than make an impatient caller wait.
public protocol Item: AnyObject, Sendable {
  /// Stable over remounts of an unchanged source, and another one for another item.
  var inode: UInt64 { get }
  var kind: Kind { get }

  func attributes(_ patience: Patience) throws(Fault) -> Attributes

  /// A file's bytes. With `pinned`, a change of the file is a fault from then on.
  func open(pinned: Bool, _ patience: Patience) throws(Fault) -> any ByteSource

  /// Finds out a file's size where its attributes have an estimate, by making the file. What would be read long before its
  /// end is known keeps the estimate, unless `atAnyCost`.
  func findSize(atAnyCost: Bool, _ patience: Patience) throws(Fault)

  /// A link's target, as recorded.
  func linkTarget(_ patience: Patience) throws(Fault) -> [UInt8]

  /// What stands in a folder under a name; nil when nothing does.
  func child(named name: FileName, _ patience: Patience) throws(Fault) -> Found?

  /// Starts reading a folder's names.
  func listing(_ patience: Patience) throws(Fault) -> any Listing

  /// The attributes of xattr(7) that the item has of its own.
  func extendedAttribute(_ name: FileName, _ patience: Patience) throws(Fault) -> [UInt8]
  /// NUL-terminated names.
  func extendedAttributeNames(_ patience: Patience) throws(Fault) -> [UInt8]

  /// Whose bytes they are, where it has `attributes`; nil: several users'.
  func soleOwner(_ attributes: Attributes) -> UInt32?

  /// Names what the item shows, whatever state of its source it was made of: what has the same content under the same name is
  /// the same thing. Of a folder, whose names come and go, it says what sort of folder it is. nil for what really exists, and
  /// is what it is by its number.
  var content: UInt64? { get }

  /// Names the state of the source that the item was made of, and of all that this was made of in turn; 0 for what really
  /// exists.
  var sourceState: UInt64 { get }

  /// A file's bytes, as `open`, for who goes on with what he has read of the same content in another state of the source. What
  /// is not sure to be the same bytes is looked through for that.
  func openAgain(_ patience: Patience) throws(Fault) -> any ByteSource

  /// Whether `content` is of what the bytes are said to be, and not of the bytes.
  var claimsItsContent: Bool { get }

  /// What names this state of the item's bytes: another one when they change.
  func revision(_ attributes: Attributes) -> UInt64

  /// Whether nothing below or in the item can change while it exists.
  var isImmutable: Bool { get }

  /// Whether a listing of the folder shows the views of its files: those that somebody made, not those that a view did.
  var listsViews: Bool { get }

  /// What it costs to find out the attributes of what a folder holds.
  var attributeCost: AttributeCost { get }

  /// Throws ESTALE when the item was made from a state of a file that is not the present one. What was found a moment ago is
  /// believed, unless it is doubted.
  func checkCurrent(isDoubted: Bool, _ patience: Patience) throws(Fault)

  /// How a file starts, as far as it is known without making it: views go by this, since looking makes nothing. nil: by what
  /// it holds.
  var knownHead: [UInt8]? { get }

  /// Who may do what with the item, beyond what its mode says; nil where the mode says all. A view has its source's, and what
  /// is made of several things none, but `CommonRights`. Only asked in mounts that several users share. May block on the disk.
  func accessList() throws(Fault) -> AccessList?

  /// What the tree says of an item that it made, as `user.ffmount.*`; nil for what simply exists.
  func provenance(_ patience: Patience) throws(Fault) -> Provenance?
}

/// What the attributes of the names in a folder cost, beside the work of a listing.
public enum AttributeCost: Sendable {
  /// Nothing: they are known with the names, and for good.
  case none
  /// A system call each, or room in memory.
  case small
  /// Bytes have to be decoded: a listing finds them out only for who wants most of them.
  case large
}

/// An item and its attributes, which come together from one system call.
public struct Found: Sendable {
  public let item: any Item
  public let attributes: Attributes
  /// Of a view: whom it tells what.
  var secrecy = Secrecy.none

  public init(_ item: any Item, _ attributes: Attributes) {
    self.item = item
    self.attributes = attributes
  }
}

/// Where a virtual item comes from and how it is.
public struct Provenance: Sendable {
  public enum State: String, Sendable {
    case exact
    case estimate
    case failed
  }

  /// The source's path below the mountpoint.
  public var source: String
  public var view: String
  public var state: State
  /// One sentence; nil when all is well.
  public var error: String?

  /// Takes over what is wrong with that which it is made of, unless something is known to be wrong with itself.
  package mutating func adopt(_ source: Provenance?) {
    guard state != .failed, let source, source.state == .failed else { return }
    state = .failed
    error = source.error
  }
}

/// A reading of a folder's names.
public protocol Listing: AnyObject, Sendable {
  /// Some names that follow `place`, which is 0 or an entry's `next`; none at the end.
  func entries(after place: Int64, _ patience: Patience) throws(Fault) -> [ListedEntry]
}

public struct ListedEntry: Sendable {
  public let name: ListedName
  public let inode: UInt64
  public let kind: Kind
  /// The place behind this entry.
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
  public func findSize(atAnyCost: Bool, _ patience: Patience) throws(Fault) {}
  public func linkTarget(_ patience: Patience) throws(Fault) -> [UInt8] { throw .notLink }
  public func child(named name: FileName, _ patience: Patience) throws(Fault) -> Found? { throw .notFolder }
  public func listing(_ patience: Patience) throws(Fault) -> any Listing { throw .notFolder }
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
