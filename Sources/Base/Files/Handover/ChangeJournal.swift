public import Bytes
internal import Glibc

/// A persistent journal of requests that must not be executed twice.
///
/// The process records the state before a change, then that the change is done, then the reply before it is sent. The next
/// process resends a recorded reply, which the kernel ignores if it has received it. Without a recorded reply it compares the
/// recorded state with the present one to determine whether the change was made.
public final class ChangeJournal: Sendable {
  private enum State {
    static let begun: UInt64 = 1
    static let done: UInt64 = 2
    static let answered: UInt64 = 3
  }
  private enum Field {
    /// The state. The upper bits have the ordinal, from 1, of the process that recorded it.
    static let state = 0
    static let first = 8
    static let second = 16
    static let result = 24
    /// The errno. The upper 32 bits have the number of bytes.
    static let answer = 32
    static let bytes = 40
    static let size = 512
  }
  private static let ordinalShift: UInt64 = 8
  private static let count = 8192
  public static let capacity = count * Field.size
  /// The maximum size of a recorded reply, in bytes.
  public static let mostBytes = Field.size - Field.bytes

  private let memory: SharedMemory
  private let ordinal: UInt64

  /// Maps `capacity` bytes of a file from `offset` on, for the process `ordinal` of the mount.
  ///
  /// - Throws: the errno of mapping it.
  public init(_ file: borrowing Descriptor, at offset: Int, ordinal: UInt16) throws(Fault) {
    memory = try SharedMemory(file, at: offset, capacity: Self.capacity)
    self.ordinal = UInt64(ordinal) + 1
  }

  private static func place(_ slot: Int32) -> Int { Int(slot) * Field.size }

  /// Returns the record of the request in a slot. Returns `nil` if the slot does not exist.
  public func record(_ slot: Int32) -> ChangeRecord? {
    slot >= 0 && slot < Self.count ? ChangeRecord(journal: self, slot: slot) : nil
  }

  /// Clears the record of a slot that is about to receive another request.
  public func clear(_ slot: Int32) {
    let place = Self.place(slot)
    if memory.load(place, as: UInt64.self) != 0 { memory.store(UInt64(0), at: place) }
  }

  /// Records a reply that is about to be sent.
  public func setAnswer(_ slot: Int32, error: Int32, _ bytes: [UInt8]) {
    guard bytes.count <= Self.mostBytes else { return }
    let place = Self.place(slot)
    memory.store(bytes[...], at: place + Field.bytes)
    memory.store(UInt64(UInt32(bitPattern: error)) | UInt64(bytes.count) << 32, at: place + Field.answer)
    store(State.answered, slot)
  }

  /// Returns the recorded reply of a slot. Returns `nil` if there is none.
  public func answer(_ slot: Int32) -> (error: Int32, bytes: [UInt8])? {
    let place = Self.place(slot)
    guard memory.load(place, as: UInt64.self) & 0xff == State.answered else { return nil }
    let answer = memory.load(place + Field.answer, as: UInt64.self)
    let count = Int(answer >> 32)
    guard count <= Self.mostBytes else { return nil }
    return (Int32(bitPattern: UInt32(truncatingIfNeeded: answer)), memory.bytes(at: place + Field.bytes, count: count))
  }

  private func store(_ state: UInt64, _ slot: Int32) {
    memory.store(state | ordinal << Self.ordinalShift, at: Self.place(slot))
  }

  fileprivate func begin(_ slot: Int32, _ first: UInt64, _ second: UInt64) {
    let place = Self.place(slot)
    // Invalid until the new values are complete.
    memory.store(UInt64(0), at: place)
    memory.store(first, at: place + Field.first)
    memory.store(second, at: place + Field.second)
    store(State.begun, slot)
  }

  fileprivate func finish(_ slot: Int32, _ result: UInt64) {
    memory.store(result, at: Self.place(slot) + Field.result)
    store(State.done, slot)
  }

  fileprivate func inherited(_ slot: Int32) -> ChangeRecord.Inherited? {
    let place = Self.place(slot)
    let state = memory.load(place, as: UInt64.self)
    guard state != 0, state >> Self.ordinalShift != ordinal else { return nil }
    return ChangeRecord.Inherited(
      isDone: state & 0xff == State.done, first: memory.load(place + Field.first, as: UInt64.self),
      second: memory.load(place + Field.second, as: UInt64.self),
      result: memory.load(place + Field.result, as: UInt64.self))
  }
}

/// The record of one request.
public struct ChangeRecord: Sendable {
  fileprivate let journal: ChangeJournal
  fileprivate let slot: Int32

  /// The state that an earlier process recorded.
  public struct Inherited: Sendable {
    /// Whether the change was made. If false, it may have been made without having been recorded.
    public let isDone: Bool
    public let first: UInt64
    public let second: UInt64
    public let result: UInt64
  }

  /// The record of an earlier process. Nil if it had not begun, or if this process has begun itself.
  public var inherited: Inherited? { journal.inherited(slot) }

  /// Records the state before the change.
  public func begin(_ first: UInt64 = 0, _ second: UInt64 = 0) { journal.begin(slot, first, second) }

  /// Records that the caller was interrupted.
  public func interrupt() { journal.setAnswer(slot, error: EINTR, []) }

  /// Records that the change is made.
  public func finish(_ result: UInt64 = 0) { journal.finish(slot, result) }
}
