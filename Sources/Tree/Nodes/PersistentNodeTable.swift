public import Bytes
public import Files

/// A record of the nodes to which the kernel has references, for the next process: their IDs, generations, locations,
/// lookup counts and identities. The items themselves are found again by name.
///
/// Writers hold the lock of `NodeTable`. Each change takes effect with a single store, so that the process may end at
/// any instruction. A count may then be too high, but never too low.
public final class PersistentNodeTable: Sendable {
  /// A recorded node.
  struct Record {
    let parent: UInt32
    let name: FileName
    let generation: UInt64
    let lookups: UInt64
    /// The recorded part of the identity. `sourceState` is not recorded.
    let identity: ItemIdentity
    let isConcealed: Bool
    let isNameless: Bool
    var inode: UInt64 { identity.inode }
    /// The identifier of a derived item's content. `nil` for a real file.
    var content: UInt64? { identity.content }

    func stands(for found: LookupResult, _ other: ItemIdentity) -> Bool {
      guard identity.kind == other.kind, !isNameless else { return false }
      guard let content else { return other.isReal(inode, created: identity.created) }
      return content == other.content && isConcealed == found.face.isConcealed
    }
  }

  private let memory: SharedMemory
  private let names: NameStore
  /// The maximum number of nodes.
  private let limit: Int

  // MARK: Layout

  /// The format version. Other versions are not read.
  private static let version: UInt64 = 3
  /// Offsets in the header, in bytes.
  private enum Head {
    static let version = 0
    static let generation = 8
    /// The first ID that was never used.
    static let end = 16
  }
  /// Offsets in a record, in bytes.
  private enum Field {
    /// The number of lookups plus 1; 0 if no node is recorded.
    static let lookups = 0
    /// The parent's ID, and in the upper 32 bits the reference of the name. A single store moves a node.
    static let place = 8
    static let generation = 16
    static let inode = 24
    /// The identifier of a derived item's content, or the creation time of a real file.
    static let content = 32
    static let flags = 40
    static let size = 48
  }
  private enum Flag {
    static let derived: UInt64 = 1
    static let concealed: UInt64 = 2
    static let nameless: UInt64 = 4
    static let kindShift: UInt64 = 8
  }
  private static let headSize = 4096
  /// The maximum number of nodes. The capacity includes room for their names.
  private static let mostNodes = 1 << 25
  private static let namesStart = headSize + mostNodes * Field.size
  public static let capacity = namesStart + NameStore.capacity

  /// Maps `capacity` bytes of a file from `offset` on.
  ///
  /// - Throws: the errno of the mapping, or `unsupported` if another version has written the file.
  public convenience init(_ file: borrowing Descriptor, at offset: Int) throws(Fault) {
    try self.init(file, at: offset, limit: Self.mostNodes)
  }

  /// Maps `capacity` bytes of a file, for up to `limit` nodes.
  init(_ file: borrowing Descriptor, at offset: Int, limit: Int) throws(Fault) {
    self.limit = min(limit, Self.mostNodes)
    memory = try SharedMemory(file, at: offset, capacity: Self.capacity)
    let version = memory.load(Head.version, as: UInt64.self)
    guard version == 0 || version == Self.version else { throw Fault(.unsupported, "a table of version \(version)") }
    names = NameStore(memory, at: Self.namesStart)
    if version == 0 {
      memory.store(UInt64.random(in: 1...0x3fff_ffff), at: Head.generation)
      memory.store(UInt64(2), at: Head.end)
      memory.store(Self.version, at: Head.version)
    }
    names.claim(ids.map { memory.load(place(of: $0) + Field.place, as: UInt64.self) >> 32 })
  }

  private func place(of id: UInt32) -> Int { Self.headSize + Int(id) * Field.size }

  private func field(_ field: Int, of id: UInt32) -> UInt64 { memory.load(place(of: id) + field, as: UInt64.self) }

  // MARK: Reading

  /// The first ID that was never used.
  var end: UInt32 { UInt32(memory.load(Head.end, as: UInt64.self)) }

  /// The IDs of the recorded nodes, without the root. O(n) in the IDs ever used.
  var ids: [UInt32] { (2..<max(2, end)).filter { field(Field.lookups, of: $0) > 0 } }

  subscript(id: UInt32) -> Record? {
    guard id >= 2, id < end else { return nil }
    let recorded = field(Field.lookups, of: id)
    guard recorded > 0 else { return nil }
    let place = field(Field.place, of: id)
    guard UInt32(truncatingIfNeeded: place) < end else { return nil }
    let flags = field(Field.flags, of: id)
    guard let kind = Kind(rawValue: UInt8(truncatingIfNeeded: flags >> Flag.kindShift)) else { return nil }
    let content = field(Field.content, of: id)
    let isDerived = flags & Flag.derived != 0
    let identity = ItemIdentity(
      kind: kind, inode: field(Field.inode, of: id), created: isDerived ? 0 : content,
      content: isDerived ? content : nil)
    return Record(
      parent: UInt32(truncatingIfNeeded: place), name: names[place >> 32],
      generation: field(Field.generation, of: id), lookups: recorded - 1, identity: identity,
      isConcealed: flags & Flag.concealed != 0, isNameless: flags & Flag.nameless != 0)
  }

  /// Returns the generation of a recorded node. Returns `nil` if there is none.
  public func generation(of id: UInt64) -> UInt64? {
    if id == 1 { return 0 }
    guard id >= 2, id < UInt64(end), field(Field.lookups, of: UInt32(id)) > 0 else { return nil }
    return field(Field.generation, of: UInt32(id))
  }

  /// Returns the path of a node from the root. Returns `nil` if the node or an ancestor is not recorded.
  public func path(of id: UInt64) -> String? {
    var names: [FileName] = []
    var next = id
    while next > 1 {
      guard next < UInt64(end), names.count < 4096, let record = self[UInt32(next)] else { return nil }
      names.append(record.name)
      next = UInt64(record.parent)
    }
    return next == 1 ? "/" + names.reversed().map(\.text).joined(separator: "/") : nil
  }

  /// Returns whether a node is recorded in this directory with this name.
  func isPlaced(_ id: UInt32, _ parent: UInt32, _ name: FileName) -> Bool {
    let place = field(Field.place, of: id)
    return UInt32(truncatingIfNeeded: place) == parent && names.holds(name, at: place >> 32)
  }

  // MARK: Writing

  /// Returns the generation of the next new node.
  func nextGeneration() -> UInt64 {
    let next = memory.load(Head.generation, as: UInt64.self) + 1
    memory.store(next, at: Head.generation)
    return next
  }

  /// Returns whether a node with this ID can be recorded.
  func hasRoom(for id: Int) -> Bool { id < limit && names.hasRoom }

  /// Records a new node with one lookup.
  func add(_ node: Node, in parent: UInt32) {
    let place = place(of: node.id)
    let identity = node.identity
    var flags = UInt64(identity.kind.rawValue) << Flag.kindShift
    if identity.content != nil { flags |= Flag.derived }
    memory.store(identity.content ?? identity.created, at: place + Field.content)
    if node.face.isConcealed { flags |= Flag.concealed }
    memory.store(UInt64(parent) | names.add(node.name) << 32, at: place + Field.place)
    memory.store(node.generation, at: place + Field.generation)
    memory.store(node.inode, at: place + Field.inode)
    memory.store(flags, at: place + Field.flags)
    if node.id >= end { memory.store(UInt64(node.id) + 1, at: Head.end) }
    setLookups(1, of: node.id)
  }

  func setLookups(_ lookups: UInt64, of id: UInt32) { memory.store(lookups &+ 1, at: place(of: id) + Field.lookups) }

  /// Removes a node. Its ID may be reused afterwards.
  func remove(_ id: UInt32) {
    memory.store(UInt64(0), at: place(of: id) + Field.lookups)
    names.remove(field(Field.place, of: id) >> 32)
  }

  func setNameless(_ id: UInt32, _ isNameless: Bool) {
    let others = field(Field.flags, of: id) & ~Flag.nameless
    memory.store(isNameless ? others | Flag.nameless : others, at: place(of: id) + Field.flags)
  }

  func move(_ id: UInt32, to parent: UInt32, _ name: FileName) {
    let before = field(Field.place, of: id) >> 32
    memory.store(UInt64(parent) | names.add(name) << 32, at: place(of: id) + Field.place)
    names.remove(before)
  }
}
