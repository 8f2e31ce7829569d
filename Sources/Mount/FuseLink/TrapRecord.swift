internal import CPosix
internal import Glibc

/// The traps that have ended this mount's processes, as the handler has recorded them.
@safe struct TrapRecord {
  private let record: UnsafeMutablePointer<ffmount_traps>
  /// Traps of one thing before it is refused.
  private static let most = 2

  init(_ record: UnsafeMutablePointer<ffmount_traps>) { unsafe self.record = record }

  /// Those since the last call, and what is refused because of all: subjects, and the generations of their nodes.
  ///
  /// - Parameter generation: of a node; nil if there is none any more.
  func read(_ generation: (UInt64) -> UInt64?) -> (new: [RequestSlots.Trap], poison: [UInt64: UInt64]) {
    let count = unsafe record.pointee.count
    let room = UInt64(FFMOUNT_TRAPS)
    // As many as there are: older ones have been overwritten.
    let first = count > room ? count - room : 0
    let read = unsafe min(max(record.pointee.read, first), count)
    var new: [RequestSlots.Trap] = []
    var poison: [UInt64: UInt64] = [:]
    var times: [Subject: Int] = [:]
    for number in first..<count {
      let place = Int(number % room)
      if number >= read {
        // Nobody has changed the table since.
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

  /// How many of the last minute were in no work that somebody had asked for.
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
