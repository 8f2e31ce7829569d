public import Bytes
internal import CPosix
public import Files
internal import Glibc
internal import Locks
internal import Synchronization

/// The kernel's unanswered requests, in memory that outlives the process, so that the next process can answer them. The
/// kernel writes each request directly into its slot, so that none exists only in a process.
///
/// Linux 6.9 can send them again with FUSE_NOTIFY_RESEND. This works with all versions.
public final class RequestSlots: Sendable {
  /// The size of a slot, in bytes. libfuse needs a page of headers and 1 MiB.
  private static let size = 4096 + 1 << 20 + 4096
  private static let count: Int32 = 8192
  /// The offsets in the memory, in bytes.
  private enum Place {
    static let version = 0
    /// The length of the kernel's INIT request, followed by the request.
    static let greeting = 8
    static let mostGreeting = 4000
    /// The first slot that was never used. Slots beyond it are not read, since that would allocate memory.
    static let end = 4088
    /// For each slot, the number of processes that died with its request.
    static let deaths = 4096
    static let traps = deaths + Int(RequestSlots.count) * 8
    static let slots = traps + 16 * 4096
  }
  private static let version: UInt64 = 2
  public static let capacity = Place.slots + Int(count) * size

  private let memory: SharedMemory
  private let state: UnfairLock<State>
  /// The number of inherited requests, read before each request.
  private let inheritedCount: Atomic<Int>
  private struct State {
    var free: [Int32]
    var inherited: [Int32] = []
    /// The first slot that `prepare` has not mapped.
    var prepared: Int32 = 0
  }

  /// The slot of a request that stays in a process, since there are more requests than slots.
  static let none: Int32 = -1
  /// The maximum number of processes that may die with a request. If more do, the request is considered the cause, even
  /// if no trap was recorded.
  private static let mostDeaths: UInt64 = 2000
  /// The number of deaths for which a process counts that was replaced because of its memory use.
  private static let deathsForMemory: UInt64 = 200
  private let weight: UInt64
  /// The outcomes of requests that change something. `nil` if none does.
  let journal: ChangeJournal?
  /// The operations that have ended two processes and are refused, with the generations of their nodes.
  private let poison: [UInt64: UInt64]
  private let generation: @Sendable (UInt64) -> UInt64?
  /// The traps that ended the previous process.
  public let traps: [Trap]
  /// The number of processes that trapped in the last minute in work that was not part of a request.
  public let idleTraps: Int

  /// A trap (fatal signal) that ended a process.
  public struct Trap: Sendable {
    /// The node of the request in progress. 0 if there was none.
    public let node: UInt64
    public let signal: Int32
    /// The time, in seconds since 1970.
    public let seconds: Int
  }

  /// Maps `capacity` bytes of a file from `offset` on.
  ///
  /// - Parameters:
  ///   - journal: the outcomes of requests that change something. `nil` if none does.
  ///   - followsLarge: whether the previous process was replaced because of its memory use.
  ///   - depth: returns the depth of a node. Requests for directories are processed before those for their entries.
  ///   - generation: returns the generation of a node that the previous process gave to the kernel. Returns `nil` for
  ///     any other node.
  /// - Throws: the errno of the mapping, or `unsupported` if another version has written the file.
  public init(
    _ file: borrowing Descriptor, at offset: Int, journal: ChangeJournal? = nil, followsLarge: Bool = false,
    depth: (UInt64) -> Int = { _ in 0 },
    generation: @escaping @Sendable (UInt64) -> UInt64?
  ) throws(Fault) {
    weight = followsLarge ? Self.deathsForMemory : 1
    self.generation = generation
    self.journal = journal
    memory = try SharedMemory(file, at: offset, capacity: Self.capacity)
    let version = memory.load(Place.version, as: UInt64.self)
    guard version == 0 || version == Self.version else { throw Fault(.unsupported, "requests of version \(version)") }
    memory.store(Self.version, at: Place.version)
    // The lowest slots are last and taken first, so that little memory is used.
    var state = State(free: [])
    let end = Int32(memory.load(Place.end, as: UInt64.self))
    state.free = (end..<Self.count).reversed()
    for slot in (0..<end).reversed() {
      if memory.load(Self.start(slot), as: UInt32.self) > 0 {
        state.inherited.append(slot)
      } else {
        state.free.append(slot)
      }
    }
    // If no process lives for long, each request is eventually the first.
    state.inherited.shuffle()
    if let journal { Self.prepare(&state.inherited, memory, journal, depth) }
    inheritedCount = Atomic(state.inherited.count)
    self.state = UnfairLock(state)
    let record = unsafe TrapRecord(Self.record(memory))
    (traps, poison) = record.read(generation)
    idleTraps = record.idle
  }

  /// Sorts the inherited requests so that the first is last. Marks interrupted requests that wait for a lock.
  private static func prepare(
    _ inherited: inout [Int32], _ memory: SharedMemory, _ journal: ChangeJournal, _ depth: (UInt64) -> Int
  ) {
    // struct fuse_in_header: u32 length, opcode, u64 unique, nodeid. INTERRUPT has the unique number of another request
    // at offset 40.
    let operations = inherited.map { memory.load(start($0) + 4, as: UInt32.self) }
    let waiting = zip(inherited, operations).filter { $1 == 33 }.map(\.0)
    for (slot, _) in zip(inherited, operations).filter({ $1 == 36 }) where !waiting.isEmpty {
      let number = memory.load(start(slot) + 40, as: UInt64.self)
      for other in waiting where memory.load(start(other) + 8, as: UInt64.self) == number {
        journal.record(other)?.interrupt()
      }
    }
    let depths = inherited.map { depth(memory.load(start($0) + 16, as: UInt64.self)) }
    inherited = zip(inherited, depths).sorted { $0.1 > $1.1 }.map(\.0)
  }

  private static func record(_ memory: SharedMemory) -> UnsafeMutablePointer<ffmount_traps> {
    unsafe memory.address(of: Place.traps, count: MemoryLayout<ffmount_traps>.size)
      .assumingMemoryBound(to: ffmount_traps.self)
  }

  /// Starts recording this process's traps. Must be called before threads are started.
  public func recordTraps() {
    unsafe ffmount_record_traps(Self.record(memory))
  }

  private static func start(_ slot: Int32) -> Int { Place.slots + Int(slot) * size }
  private static func deaths(_ slot: Int32) -> Int { Place.deaths + Int(slot) * 8 }

  // MARK: The first request

  /// The kernel's INIT request. `nil` if it has not arrived yet.
  public var greeting: [UInt8]? {
    let count = Int(memory.load(Place.greeting, as: UInt64.self))
    return count > 0 && count <= Place.mostGreeting ? memory.bytes(at: Place.greeting + 8, count: count) : nil
  }

  func record(greeting bytes: [UInt8]) {
    guard bytes.count <= Place.mostGreeting else { return }
    memory.store(bytes[...], at: Place.greeting + 8)
    memory.store(UInt64(bytes.count), at: Place.greeting)
  }

  // MARK: Slots

  /// Takes a slot for the next request. Returns `nil` if there are none left.
  func take() -> Int32? {
    state.withLock { state in
      guard let slot = state.free.popLast() else { return nil }
      if slot >= memory.load(Place.end, as: UInt64.self) { memory.store(UInt64(slot) + 1, at: Place.end) }
      if slot >= state.prepared { prepare(slot, &state) }
      journal?.clear(slot)
      return slot
    }
  }

  /// The number of slots that are mapped for a long request. Most requests use the lowest slots.
  private static let longSlots: Int32 = 16

  /// Maps the memory of all slots up to this one. The kernel would do so when it stores a request there. A process that
  /// is killed at that time gets no more memory, though, and the request would be answered with EIO.
  private func prepare(_ slot: Int32, _ state: inout State) {
    for next in state.prepared...slot {
      let isLong = journal != nil && next < Self.longSlots
      memory.populate(Self.start(next), count: isLong ? Self.size : 4096)
    }
    state.prepared = slot + 1
  }

  func address(_ slot: Int32) -> UnsafeMutableRawPointer {
    unsafe memory.address(of: Self.start(slot), count: Self.size)
  }

  /// Releases a slot whose request has been answered or never arrived.
  func release(_ slot: Int32) {
    guard slot != Self.none else { return }
    memory.store(UInt64(0), at: Self.start(slot))
    memory.store(UInt64(0), at: Self.deaths(slot))
    state.withLock { $0.free.append(slot) }
  }

  /// Takes an unanswered request of an earlier process. Returns `nil` if there are none left.
  ///
  /// - Parameter isWanted: returns whether to take a request with this operation code.
  func takeInherited(where isWanted: (UInt32) -> Bool = { _ in true }) -> Int32? {
    guard hasInherited else { return nil }
    return state.withLock { state in
      guard let index = state.inherited.lastIndex(where: { isWanted(operation($0)) }) else { return nil }
      defer { inheritedCount.store(state.inherited.count, ordering: .relaxed) }
      return state.inherited.remove(at: index)
    }
  }

  /// Returns the operation code of the request in a slot.
  func operation(_ slot: Int32) -> UInt32 { memory.load(Self.start(slot) + 4, as: UInt32.self) }

  var hasInherited: Bool { inheritedCount.load(ordering: .relaxed) > 0 }

  // MARK: Requests that end processes

  /// Records that the previous process has died with an inherited request. Returns whether more than the permitted
  /// number of processes have.
  func hasSeenTooMuch(_ slot: Int32) -> Bool {
    let deaths = memory.load(Self.deaths(slot), as: UInt64.self) + weight
    memory.store(deaths, at: Self.deaths(slot))
    return deaths > Self.mostDeaths
  }

  /// Returns whether an operation has ended processes.
  func isPoison(_ subject: UInt64, of node: UInt64) -> Bool {
    guard !poison.isEmpty, let condemned = poison[subject] else { return false }
    return generation(node) == condemned
  }

  /// Returns whether any operation on a node has ended processes.
  public func hasEndedProcesses(_ node: UInt64) -> Bool {
    poison.keys.contains { RequestHeader.node(ofSubject: $0) == node && isPoison($0, of: node) }
  }
}
