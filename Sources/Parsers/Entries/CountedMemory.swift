public import Bytes
public import Threads

/// The memory of a tree, during and after its construction. Memory is counted before it is allocated so that a hostile
/// archive cannot exceed the budget.
public struct CountedMemory: Sendable {
  private let share: MemoryShare
  /// The counted memory, in bytes.
  public private(set) var count = 0

  /// The step by which the share grows, in bytes.
  private static let step = 64 << 10

  public init(_ share: MemoryShare) { self.share = share }

  /// Reserves capacity in an array for `more` elements. Throws `limit` if the budget is exhausted.
  public mutating func makeRoom<Element: BitwiseCopyable>(in array: inout [Element], for more: Int = 1) throws(Fault) {
    if array.capacity - array.count < more {
      try resize(&array, to: max(array.count + more, array.count / 2 * 3, 16))
    }
  }

  /// Reserves `capacity` elements in total.
  public mutating func resize<Element: BitwiseCopyable>(_ array: inout [Element], to capacity: Int) throws(Fault) {
    let before = array.capacity * MemoryLayout<Element>.stride
    // Both copies exist during the reallocation.
    try take(capacity, of: MemoryLayout<Element>.stride)
    array.reserveCapacity(capacity)
    count -= before
  }

  /// Counts `number` objects of `size` bytes each.
  public mutating func take(_ number: Int, of size: Int) throws(Fault) {
    let (more, isHuge) = number.multipliedReportingOverflow(by: size)
    let (sum, isOver) = count.addingReportingOverflow(more)
    guard !isHuge, !isOver, sum <= .max - Self.step else { throw shortage(isLasting: true) }
    if sum > share.size, !share.grow(to: sum + Self.step), !share.grow(to: sum) {
      throw shortage(isLasting: share.isBeyondAll)
    }
    count = sum
  }

  public mutating func giveBack(_ number: Int, of size: Int) { count -= number * size }

  /// Returns the maximum number of objects of `size` bytes that fit in the whole budget.
  public func most(of size: Int) -> Int { share.budget.capacity / size }

  /// Sets the count to the final size and returns the rest to the budget.
  public mutating func settle(at count: Int) {
    self.count = count
    share.set(to: count)
  }

  private func shortage(isLasting: Bool) -> Fault {
    let capacity = share.budget.capacity
    let limit = capacity < 1 << 20 ? "\(capacity >> 10) KiB" : "\(capacity >> 20) MiB"
    return isLasting
      ? Fault(.limit, "it has more names than fit in \(limit) of memory (-o memory=)")
      : Fault(.limit, "no room for its names in \(limit) of memory, beside the other uses (-o memory=)")
  }
}
