public import Bytes
internal import CPosix
public import Files
internal import Glibc
internal import Synchronization

/// The kernel's requests that nobody has answered, in memory that outlives the process: the next one answers them. The kernel
/// writes each straight into its slot, so that none is only in a process.
///
/// Linux 6.9 could be asked for them, with FUSE_NOTIFY_RESEND; this works on all.
public final class RequestSlots: Sendable {
  /// In bytes: what libfuse has room for, a page of heads and 1 MiB.
  private static let size = 4096 + 1 << 20 + 4096
  private static let count: Int32 = 8192
  private enum Place {
    static let version = 0
    /// The length of the kernel's INIT request, and the request.
    static let greeting = 8
    static let mostGreeting = 4000
    /// The first slot that was never used: memory is taken by a look at what lies beyond.
    static let end = 4088
    /// For each slot, how many processes have died with its request.
    static let deaths = 4096
    static let traps = deaths + Int(RequestSlots.count) * 8
    static let slots = traps + 16 * 4096
  }
  private static let version: UInt64 = 2
  public static let capacity = Place.slots + Int(count) * size

  private let memory: LastingMemory
  private let state: Mutex<State>
  private struct State {
    var free: [Int32]
    var inherited: [Int32] = []
    /// The slots below this have been mapped, as far as `prepare` maps them.
    var prepared: Int32 = 0
  }

  /// Of a request that stays in a process: there are more than slots.
  static let none: Int32 = -1
  /// After so many processes that died with it a request is taken for the reason, even if no trap says so.
  private static let mostDeaths: UInt64 = 2000
  /// A process that was replaced for its memory counts for so many.
  private static let deathsForMemory: UInt64 = 200
  private let weight: UInt64
  /// What has become of those that change something; nil if none does.
  let journal: ChangeJournal?
  /// What is not worked on again, and in which generation of its node: it has ended two processes.
  private let poison: [UInt64: UInt64]
  private let generation: @Sendable (UInt64) -> UInt64?
  /// What ended the process before this one, if that trapped.
  public let traps: [Trap]
  /// How many processes have trapped in the last minute in work that nobody had asked for.
  public let idleTraps: Int

  /// A process's end.
  public struct Trap: Sendable {
    /// What it worked on; 0 for nothing that was asked.
    public let node: UInt64
    public let signal: Int32
    /// Of the Unix epoch.
    public let seconds: Int
  }

  /// Maps `capacity` bytes of a file from `offset` on.
  ///
  /// - Parameters:
  ///   - depth: of a node: what is asked of folders is done before what is asked of others in them.
  ///   - generation: of a node that the process before has given to the kernel; nil if it has not.
  ///   - journal: what has become of those that change something; nil if none does.
  ///   - followsLarge: whether that process was replaced because it had too much memory.
  /// - Throws: the errno of mapping it; `unsupported` if another version has written it.
  public init(
    _ file: borrowing Descriptor, at offset: Int, journal: ChangeJournal? = nil, followsLarge: Bool = false,
    depth: (UInt64) -> Int = { _ in 0 },
    generation: @escaping @Sendable (UInt64) -> UInt64?
  ) throws(Fault) {
    weight = followsLarge ? Self.deathsForMemory : 1
    self.generation = generation
    self.journal = journal
    memory = try LastingMemory(file, at: offset, capacity: Self.capacity)
    let version = memory.load(Place.version, as: UInt64.self)
    guard version == 0 || version == Self.version else { throw Fault(.unsupported, "requests of version \(version)") }
    memory.store(Self.version, at: Place.version)
    // The lowest last: they are taken first, so that little memory is used.
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
    // Where none lives for long, each gets its turn to be the first.
    state.inherited.shuffle()
    if let journal { Self.prepare(&state.inherited, memory, journal, depth) }
    self.state = Mutex(state)
    let record = unsafe TrapRecord(Self.record(memory))
    (traps, poison) = record.read(generation)
    idleTraps = record.idle
  }

  /// Sorts the inherited requests, the first last; those that wait for a lock and were interrupted are answered so.
  private static func prepare(
    _ inherited: inout [Int32], _ memory: LastingMemory, _ journal: ChangeJournal, _ depth: (UInt64) -> Int
  ) {
    // struct fuse_in_header: u32 length, opcode, u64 unique, nodeid; of INTERRUPT, the unique number of another at 40 bytes.
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

  private static func record(_ memory: LastingMemory) -> UnsafeMutablePointer<ffmount_traps> {
    unsafe memory.address(of: Place.traps, count: MemoryLayout<ffmount_traps>.size)
      .assumingMemoryBound(to: ffmount_traps.self)
  }

  /// Has this process's traps recorded. Before it starts threads.
  public func recordTraps() {
    unsafe ffmount_record_traps(Self.record(memory))
  }

  private static func start(_ slot: Int32) -> Int { Place.slots + Int(slot) * size }
  private static func deaths(_ slot: Int32) -> Int { Place.deaths + Int(slot) * 8 }

  // MARK: The first request

  /// The kernel's INIT request; nil if there was none yet.
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

  /// A slot for the next request, and where the kernel is to put it; nil if there are none left.
  func take() -> Int32? {
    state.withLock { state in
      guard let slot = state.free.popLast() else { return nil }
      if slot >= memory.load(Place.end, as: UInt64.self) { memory.store(UInt64(slot) + 1, at: Place.end) }
      if slot >= state.prepared { prepare(slot, &state) }
      journal?.clear(slot)
      return slot
    }
  }

  /// How many slots have room that is mapped for a long request: most take the lowest.
  private static let longSlots: Int32 = 16

  /// Maps the memory of the slots up to one. The kernel would do so when it puts a request there, but a process that is killed
  /// just then gets no more memory, and the request is answered with EIO.
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

  /// The request has been answered, or there is none.
  func release(_ slot: Int32) {
    guard slot != Self.none else { return }
    memory.store(UInt64(0), at: Self.start(slot))
    memory.store(UInt64(0), at: Self.deaths(slot))
    state.withLock { $0.free.append(slot) }
  }

  /// A request of an earlier process that it has not answered; nil if there is none left.
  ///
  /// - Parameter isWanted: takes the code of its operation.
  func takeInherited(where isWanted: (UInt32) -> Bool = { _ in true }) -> Int32? {
    state.withLock { state in
      guard let index = state.inherited.lastIndex(where: { isWanted(operation($0)) }) else { return nil }
      return state.inherited.remove(at: index)
    }
  }

  /// The code of the operation that the request in a slot asks for.
  func operation(_ slot: Int32) -> UInt32 { memory.load(Self.start(slot) + 4, as: UInt32.self) }

  var hasInherited: Bool { state.withLock { !$0.inherited.isEmpty } }

  // MARK: Requests that end processes

  /// Whether a request of an earlier process is taken for what ends processes, as so many have ended with it. Counts the
  /// last.
  func hasSeenTooMuch(_ slot: Int32) -> Bool {
    let deaths = memory.load(Self.deaths(slot), as: UInt64.self) + weight
    memory.store(deaths, at: Self.deaths(slot))
    return deaths > Self.mostDeaths
  }

  /// Whether this has ended processes.
  func isPoison(_ subject: UInt64, of node: UInt64) -> Bool {
    guard !poison.isEmpty, let condemned = poison[subject] else { return false }
    return generation(node) == condemned
  }

  /// Whether something that can be asked of a node has ended processes.
  public func hasEndedProcesses(_ node: UInt64) -> Bool {
    poison.keys.contains { RequestHead.node(ofSubject: $0) == node && isPoison($0, of: node) }
  }
}
