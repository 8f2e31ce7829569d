internal import Bytes
internal import Threads

/// What a tree takes while it is made and after: counted before it is taken, so that it is bounded in bytes, whatever it is
/// that a hostile archive has so much of.
struct CountedMemory: Sendable {
  private let share: MemoryShare
  /// In bytes.
  private(set) var count = 0

  /// The share is made larger by so many bytes at a time.
  private static let step = 64 << 10

  init(_ share: MemoryShare) { self.share = share }

  /// Makes room in an array for `more` elements. Throws when there is no memory for them.
  mutating func makeRoom<Element: BitwiseCopyable>(in array: inout [Element], for more: Int = 1) throws(Fault) {
    if array.capacity - array.count < more {
      try resize(&array, to: max(array.count + more, array.count / 2 * 3, 16))
    }
  }

  /// Makes room for `capacity` elements in all.
  mutating func resize<Element: BitwiseCopyable>(_ array: inout [Element], to capacity: Int) throws(Fault) {
    let before = array.capacity * MemoryLayout<Element>.stride
    // Both are there while one is copied.
    try take(capacity, of: MemoryLayout<Element>.stride)
    array.reserveCapacity(capacity)
    count -= before
  }

  /// Counts so many things of so many bytes each.
  mutating func take(_ number: Int, of size: Int) throws(Fault) {
    let (more, isHuge) = number.multipliedReportingOverflow(by: size)
    let (sum, isOver) = count.addingReportingOverflow(more)
    guard !isHuge, !isOver, sum <= .max - Self.step else { throw shortage(isLasting: true) }
    if sum > share.size, !share.grow(to: sum + Self.step), !share.grow(to: sum) {
      throw shortage(isLasting: share.isBeyondAll)
    }
    count = sum
  }

  mutating func giveBack(_ number: Int, of size: Int) { count -= number * size }

  /// At most how many things of a size could be had, if nobody else had anything.
  func most(of size: Int) -> Int { share.budget.capacity / size }

  /// Gives back all but what was counted, and `count` is that from now on.
  mutating func settle(at count: Int) {
    self.count = count
    share.set(to: count)
  }

  private func shortage(isLasting: Bool) -> Fault {
    let capacity = share.budget.capacity
    let limit = capacity < 1 << 20 ? "\(capacity >> 10) KiB" : "\(capacity >> 20) MiB"
    return isLasting
      ? Fault(.limit, "it has more names than fit in \(limit) of memory (-o memory=)")
      : Fault(.limit, "there is no room for its names beside what else is in use of \(limit) of memory (-o memory=)")
  }
}
