public import Bytes
internal import CPosix
internal import Glibc
internal import Locks

/// A persistent table of the descriptors that outlive this process, with the data that the next process needs to use
/// them.
///
/// The holder, a process that shares the descriptor table, sends the recorded descriptors to the supervisor when this
/// process dies. The supervisor records its own numbers of them, under which the next process inherits them. A single
/// store validates or invalidates a record.
public final class OpenLedger: Sendable {
  public enum Kind: UInt64, Sendable {
    /// An open file.
    case file = 1
    /// The descriptor that an owner's locks are set with.
    case lock = 2
    /// A directory that was removed while it was in use.
    case folder = 3
  }

  /// The description of a descriptor.
  public struct Record: Sendable {
    public var kind: Kind
    /// The descriptor, which the record does not own. -1 if it was lost.
    public var file: Int32 = -1
    /// The kernel's handle of the open file, or of the file that a lock was set through. 0 if the kernel does not have it.
    public var number: UInt64 = 0
    public var node: UInt64 = 0
    public var generation: UInt64 = 0
    public var inode: UInt64 = 0
    /// The owner of a lock.
    public var owner: UInt64 = 0
    /// The kernel's backing ID. Nil if the file is not a backing file.
    public var lent: Int32?

    public init(_ kind: Kind) { self.kind = kind }
  }

  /// A record.
  public struct Entry: Sendable {
    fileprivate let ledger: OpenLedger
    fileprivate let index: Int

    public func setNumber(_ number: UInt64) {
      ledger.memory.store(number, at: OpenLedger.place(index) + Field.number)
    }

    public func setLent(_ lent: Int32?) {
      let value = lent.map { UInt64(UInt32(bitPattern: $0)) + 1 } ?? 0
      ledger.memory.store(value, at: OpenLedger.place(index) + Field.lent)
    }

    /// Removes the record. Must be called once, before the descriptor is closed.
    public func remove() {
      ledger.memory.store(UInt64(0), at: OpenLedger.place(index))
      ledger.free.withLock { $0.append(index) }
    }
  }

  private enum Field {
    static let kind = 0
    static let file = 8
    static let number = 16
    static let node = 24
    static let generation = 32
    static let inode = 40
    static let owner = 48
    static let lent = 56
    static let size = 64
  }
  private static let version: UInt64 = 1
  private static let end = 8
  private static let head = 4096
  private static let most = 1 << 20
  public static let capacity = head + most * Field.size
  /// The mark of descriptor numbers that this process has stored. Numbers that the supervisor has stored are not
  /// marked.
  private static let own: Int64 = 1 << 32

  private let memory: SharedMemory
  private let start: Int
  private let free: UnfairLock<[Int]>
  private let records: [(index: Int, record: Record)]

  /// Maps `capacity` bytes of a file from `offset` on.
  ///
  /// - Throws: The errno of the mapping. `unsupported` if another version has written the table.
  public init(_ file: borrowing Descriptor, at offset: Int) throws(Fault) {
    start = offset
    memory = try SharedMemory(file, at: offset, capacity: Self.capacity)
    let version = memory.load(0, as: UInt64.self)
    guard version == 0 || version == Self.version else { throw Fault(.unsupported, "open files of version \(version)") }
    memory.store(Self.version, at: 0)
    var found: [(index: Int, record: Record)] = []
    var empty: [Int] = []
    for index in (0..<Int(memory.load(Self.end, as: UInt64.self))).reversed() {
      if let record = Self.record(index, in: memory) { found.append((index, record)) } else { empty.append(index) }
    }
    for (_, record) in found where record.file >= 0 { _ = fcntl(record.file, F_SETFD, FD_CLOEXEC) }
    records = found
    free = UnfairLock(empty)
  }

  private static func place(_ index: Int) -> Int { head + index * Field.size }

  private static func record(_ index: Int, in memory: SharedMemory) -> Record? {
    func field(_ field: Int) -> UInt64 { memory.load(place(index) + field, as: UInt64.self) }
    guard let kind = Kind(rawValue: field(Field.kind)) else { return nil }
    var record = Record(kind)
    let file = Int64(bitPattern: field(Field.file))
    if file >= 0, file & own == 0 { record.file = Int32(truncatingIfNeeded: file) }
    record.number = field(Field.number)
    record.node = field(Field.node)
    record.generation = field(Field.generation)
    record.inode = field(Field.inode)
    record.owner = field(Field.owner)
    let lent = field(Field.lent)
    if lent > 0 { record.lent = Int32(bitPattern: UInt32(truncatingIfNeeded: lent - 1)) }
    return record
  }

  /// The descriptors of the previous process and their records.
  public var inherited: [(entry: Entry, record: Record)] {
    records.map { (Entry(ledger: self, index: $0.index), $0.record) }
  }

  /// Records a descriptor. Returns `nil` if the table is full; the descriptor then ends with this process.
  public func add(_ file: Int32, _ record: Record) -> Entry? {
    let index = free.withLock { free -> Int? in
      if let index = free.popLast() { return index }
      let end = memory.load(Self.end, as: UInt64.self)
      guard end < UInt64(Self.most) else { return nil }
      memory.store(end + 1, at: Self.end)
      return Int(end)
    }
    guard let index else { return nil }
    let place = Self.place(index)
    memory.store(Int64(file) | Self.own, at: place + Field.file)
    for (field, value) in [
      (Field.number, record.number), (Field.node, record.node), (Field.generation, record.generation),
      (Field.inode, record.inode), (Field.owner, record.owner), (Field.lent, 0),
    ] {
      memory.store(value, at: place + field)
    }
    memory.store(record.kind.rawValue, at: place)
    return Entry(ledger: self, index: index)
  }

  // MARK: The holder

  /// Starts the holder, which communicates with the supervisor by `socket`. Must be called before a second thread
  /// exists.
  public func startHolder(_ socket: Int32) -> Bool {
    let all = unsafe memory.address(of: Self.head, count: Self.most * Field.size)
      .assumingMemoryBound(to: ffmount_held.self)
    let end = unsafe memory.address(of: Self.end, count: 8).assumingMemoryBound(to: UInt64.self)
    return unsafe ffmount_hold(socket, all, end, UInt64(start + Self.head)) > 0
  }

  /// Records that this process, not the supervisor, owns the inherited descriptors.
  public func claim() {
    for (index, record) in records {
      let file = record.file < 0 ? -1 : Int64(record.file) | Self.own
      memory.store(file, at: Self.place(index) + Field.file)
    }
  }
}
