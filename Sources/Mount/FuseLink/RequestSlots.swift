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
    /// For each slot, how often a process has died of its request, and then with how many others.
    static let deaths = 4096
    /// What killed processes twice: nodes, and above them the operation; the first 0 ends them.
    static let poison = deaths + Int(RequestSlots.count) * 8
    static let mostPoison = 512
    static let slots = poison + mostPoison * 8
  }
  private static let version: UInt64 = 1
  public static let capacity = Place.slots + Int(count) * size

  private let memory: LastingMemory
  private let state: Mutex<State>
  private struct State {
    var free: [Int32]
    var inherited: [Int32] = []
  }
  /// How many entries of `poison` there are.
  private let poisons = Atomic<Int>(0)

  /// Of a request that stays in a process: there are more than slots.
  static let none: Int32 = -1
  /// After so many processes that died with it a request is taken for the reason, even if no trap says so.
  private static let mostDeaths: UInt32 = 500
  /// After so many traps while working on it.
  private static let mostTraps: UInt32 = 2

  /// Maps `capacity` bytes of a file from `offset` on.
  ///
  /// - Throws: the errno of mapping it; `unsupported` if another version has written it.
  public init(_ file: borrowing Descriptor, at offset: Int) throws(Fault) {
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
    self.state = Mutex(state)
    let known = (0..<Place.mostPoison).first { memory.load(Place.poison + $0 * 8, as: UInt64.self) == 0 }
    poisons.store(known ?? Place.mostPoison, ordering: .relaxed)
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
      return slot
    }
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
  func takeInherited() -> Int32? { state.withLock { $0.inherited.popLast() } }

  var hasInherited: Bool { state.withLock { !$0.inherited.isEmpty } }

  // MARK: Requests that end processes

  /// Where a trap of this thread is counted; nil for nowhere.
  func blame(_ slot: Int32?) {
    guard let slot, slot != Self.none else { return ffmount_blame(nil) }
    let place = unsafe memory.address(of: Self.deaths(slot), count: 8)
    unsafe ffmount_blame(place.assumingMemoryBound(to: UInt32.self))
  }

  /// Whether a request of an earlier process is not to be worked on again: it has ended processes. Then its kind
  /// for its node is refused from now on. Counts one process more that ended with it.
  func isPoison(_ slot: Int32, _ head: RequestHead) -> Bool {
    let traps = memory.load(Self.deaths(slot), as: UInt32.self)
    let deaths = memory.load(Self.deaths(slot) + 4, as: UInt32.self) + 1
    memory.store(deaths, at: Self.deaths(slot) + 4)
    guard traps >= Self.mostTraps || deaths > Self.mostDeaths else { return false }
    // The kernel asks for a page again under another number; of a folder, another name may be asked for.
    let known = poisons.load(ordering: .relaxed)
    if !head.hasName, known < Place.mostPoison {
      memory.store(head.subject, at: Place.poison + known * 8)
      poisons.store(known + 1, ordering: .relaxed)
    }
    return true
  }

  /// Whether requests of this kind for this node have ended processes.
  func isPoison(_ head: RequestHead) -> Bool {
    let known = poisons.load(ordering: .relaxed)
    guard known > 0, !head.hasName else { return false }
    return (0..<known).contains { memory.load(Place.poison + $0 * 8, as: UInt64.self) == head.subject }
  }
}
