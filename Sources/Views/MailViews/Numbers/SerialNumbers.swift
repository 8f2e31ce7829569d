internal import Bytes

/// The serial numbers of a source's messages, by position. They appear in names, are unique, and start at 1.
///
/// Numbers that equal their position plus 1, as in an archive that only grows, take no memory.
struct SerialNumbers: Sendable, Equatable {
  /// The number of messages, from the first one on, whose number is their position plus 1.
  private var plain = 0
  /// The numbers of the messages after those.
  private var rest: [UInt32] = []
  private var isAscending = true
  /// Indices in `rest`, in ascending order of the numbers. `nil` if `rest` is ascending or has grown since.
  private var order: [UInt32]?
  /// The highest number; 0 if there is none.
  private(set) var highest: UInt32 = 0

  var count: Int { plain + rest.count }

  mutating func append(_ number: UInt32) {
    if rest.isEmpty, Int(number) == plain + 1 {
      plain += 1
    } else {
      isAscending = isAscending && number > highest
      rest.append(number)
      order = nil
    }
    highest = max(highest, number)
  }

  /// Removes the numbers from a position on.
  mutating func cut(to count: Int) {
    guard count < self.count else { return }
    let kept = (0..<max(0, count)).map { UInt32(self[$0]) }
    self = SerialNumbers()
    for number in kept { append(number) }
  }

  /// The number of the message at a position, which must exist.
  subscript(position: Int) -> Int { position < plain ? position + 1 : Int(rest[position - plain]) }

  /// Speeds up `position(of:)` when all numbers are known.
  mutating func finish() {
    if isAscending || order != nil { return }
    order = Array(0..<UInt32(rest.count)).sorted { [rest] in rest[Int($0)] < rest[Int($1)] }
  }

  /// Returns the position of the message with a number. Returns `nil` if there is none. O(log n) once finished.
  func position(of number: Int) -> Int? {
    guard number > 0, number <= Int(highest) else { return nil }
    if number <= plain { return number - 1 }
    let found: Int?
    if isAscending {
      found = rest.partitionIndex { Int($0) < number }
    } else if let order {
      let place = order.partitionIndex { Int(rest[Int($0)]) < number }
      found = place < order.count ? Int(order[place]) : nil
    } else {
      found = rest.firstIndex(of: UInt32(number))
    }
    guard let found, found < rest.count, Int(rest[found]) == number else { return nil }
    return plain + found
  }

  static func == (one: SerialNumbers, other: SerialNumbers) -> Bool {
    one.plain == other.plain && one.rest == other.rest
  }
}
