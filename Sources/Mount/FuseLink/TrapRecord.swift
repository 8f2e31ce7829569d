internal import CPosix
internal import Glibc

/// The record of the traps (fatal signals) that have ended this mount's processes.
@safe struct TrapRecord {
  private let record: UnsafeMutablePointer<ffmount_traps>
  /// The number of traps after which an operation is refused.
  private static let most = 2

  init(_ record: UnsafeMutablePointer<ffmount_traps>) { unsafe self.record = record }

  /// Returns the traps since the last call, and the operations that are refused because of all traps, with the
  /// generations of their nodes.
  ///
  /// - Parameter generation: returns the generation of a node. Returns `nil` if it no longer exists.
  func read(_ generation: (UInt64) -> UInt64?) -> (new: [RequestSlots.Trap], poison: [UInt64: UInt64]) {
    let count = unsafe record.pointee.count
    let room = UInt64(FFMOUNT_TRAPS)
    // Older traps have been overwritten.
    let first = count > room ? count - room : 0
    let read = unsafe min(max(record.pointee.read, first), count)
    var new: [RequestSlots.Trap] = []
    var poison: [UInt64: UInt64] = [:]
    var times: [Subject: Int] = [:]
    for number in first..<count {
      let place = Int(number % room)
      if number >= read {
        // The table has not changed since the trap.
        unsafe all[place].generation = generation(all[place].node) ?? .max
        unsafe new.append(RequestSlots.Trap(all[place]))
      }
      let subject = unsafe Subject(number: all[place].subject, generation: all[place].generation)
      guard subject.number != 0 else { continue }
      times[subject, default: 0] += 1
      if times[subject, default: 0] >= Self.most { poison[subject.number] = subject.generation }
    }
    unsafe record.pointee.read = count
    return (new, poison)
  }

  /// The number of traps in the last minute that were not part of a request.
  var idle: Int {
    let now = UInt64(time(nil))
    return unsafe all.count { $0.signal != 0 && $0.subject == 0 && $0.seconds &+ 60 > now }
  }

  private var all: UnsafeMutableBufferPointer<ffmount_trap> {
    let start = unsafe UnsafeMutableRawPointer(record) + MemoryLayout<ffmount_traps>.offset(of: \.all)!
    return unsafe UnsafeMutableBufferPointer(
      start: start.assumingMemoryBound(to: ffmount_trap.self), count: Int(FFMOUNT_TRAPS))
  }

  private struct Subject: Hashable {
    let number: UInt64
    let generation: UInt64
  }
}

extension RequestSlots.Trap {
  fileprivate init(_ trap: ffmount_trap) {
    node = trap.node
    signal = Int32(truncatingIfNeeded: trap.signal)
    seconds = Int(truncatingIfNeeded: trap.seconds)
  }
}
