public import Bytes
internal import CPosix
internal import Glibc
internal import Synchronization

/// The descriptors that outlive this process, with what the next one needs to know of each.
///
/// A process that shares the table of descriptors gives them to the keeper when this one dies, and the keeper records its own
/// numbers of them, which are the next process's, too. Each record begins and ends to hold with a single store.
public final class OpenLedger: Sendable {
  public enum Kind: UInt64, Sendable {
    /// An open file.
    case file = 1
    /// The descriptor of an owner's locks.
    case lock = 2
    /// A folder whose name was removed.
    case folder = 3
  }

  /// What a descriptor is of.
  public struct Record: Sendable {
    public var kind: Kind
    /// Not owned; -1 if it was lost.
    public var file: Int32 = -1
    /// The kernel's number of the open file; of a lock, of the file that it was set through. 0 if it was not answered.
    public var number: UInt64 = 0
    public var node: UInt64 = 0
    public var generation: UInt64 = 0
    /// Of a lock.
    public var inode: UInt64 = 0
    public var owner: UInt64 = 0
    /// What the kernel was lent of the file; nil for nothing.
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

    public func setLent(_ lent: Int32) {
      ledger.memory.store(UInt64(UInt32(bitPattern: lent)) + 1, at: OpenLedger.place(index) + Field.lent)
    }

    /// Must be called before the descriptor is closed, once.
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
  /// Marks the numbers of the process that serves: those that the keeper has recorded have no mark.
  private static let own: Int64 = 1 << 32

  private let memory: LastingMemory
  private let start: Int
  private let free: Mutex<[Int]>
  private let records: [(index: Int, record: Record)]

  /// Maps `capacity` bytes of a file from `offset` on.
  ///
  /// - Throws: the errno of mapping it; `unsupported` if another version has written it.
  public init(_ file: borrowing Descriptor, at offset: Int) throws(Fault) {
    start = offset
    memory = try LastingMemory(file, at: offset, capacity: Self.capacity)
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
    free = Mutex(empty)
  }

  private static func place(_ index: Int) -> Int { head + index * Field.size }

  private static func record(_ index: Int, in memory: LastingMemory) -> Record? {
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

  /// The descriptors of the process before, with what is recorded of them.
  public var inherited: [(entry: Entry, record: Record)] {
    records.map { (Entry(ledger: self, index: $0.index), $0.record) }
  }

  /// Records a descriptor. Returns `nil` if there is no room: then it ends with this process.
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

  // MARK: The process that shares the descriptors

  /// Starts it; `socket` is the keeper's. Before any second thread exists.
  public func startHolder(_ socket: Int32) -> Bool {
    let all = unsafe memory.address(of: Self.head, count: Self.most * Field.size)
      .assumingMemoryBound(to: ffmount_held.self)
    let end = unsafe memory.address(of: Self.end, count: 8).assumingMemoryBound(to: UInt64.self)
    return unsafe ffmount_hold(socket, all, end, UInt64(start + Self.head)) > 0
  }

  /// Records that the keeper no longer has the descriptors of the process before.
  public func claim() {
    for (index, record) in records {
      let file = record.file < 0 ? -1 : Int64(record.file) | Self.own
      memory.store(file, at: Self.place(index) + Field.file)
    }
  }
}
