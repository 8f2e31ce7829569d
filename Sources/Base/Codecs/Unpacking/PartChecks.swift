internal import Bytes

/// The results of comparing the checksums of a compressed file's parts, by ranges of the decoded bytes.
struct PartChecks: Sendable, Equatable {
  struct Damage: Sendable, Equatable {
    var range: Range<Int64>
    var fault: Fault
  }

  /// The damages in the file's order, without overlaps.
  private(set) var damages: [Damage] = []
  /// The parts that were decoded without a fault.
  private(set) var passed = RangeSet<Int64>()

  /// The maximum number of damages. The last one extends over all that follow.
  static let most = 1024

  mutating func pass(_ range: Range<Int64>) {
    if !range.isEmpty { passed.insert(contentsOf: range) }
  }

  mutating func fail(_ range: Range<Int64>, _ fault: Fault) {
    guard !range.isEmpty else { return }
    var added = Damage(range: range, fault: fault)
    damages.removeAll { known in
      guard known.range.overlaps(added.range) else { return false }
      added = Damage(
        range: min(
          known.range.lowerBound, added.range.lowerBound)..<max(
            known.range.upperBound, added.range.upperBound),
        fault: known.fault)
      return true
    }
    damages.insert(added, at: damages.partitionIndex { $0.range.upperBound <= added.range.lowerBound })
    guard damages.count > Self.most, let last = damages.popLast(), let before = damages.popLast() else { return }
    damages.append(Damage(range: before.range.lowerBound..<last.range.upperBound, fault: before.fault))
  }

  /// Returns the first damage in a range. Returns `nil` if none is known.
  func damage(in range: Range<Int64>) -> Damage? {
    let first = damages.partitionIndex { $0.range.upperBound <= range.lowerBound }
    return first < damages.count && damages[first].range.lowerBound < range.upperBound ? damages[first] : nil
  }

  /// Returns the first byte of a range that is neither in a passed part nor in a damaged one. Returns `nil` if there is
  /// none.
  func firstOpen(in range: Range<Int64>) -> Int64? {
    var start = range.lowerBound
    while start < range.upperBound {
      if let damage = damage(in: start..<start + 1) {
        start = damage.range.upperBound
      } else if let end = end(ofPassedAt: start) {
        start = end
      } else {
        return start
      }
    }
    return nil
  }

  /// Returns whether a range lies in passed parts.
  func passes(_ range: Range<Int64>) -> Bool { damage(in: range) == nil && firstOpen(in: range) == nil }

  private func end(ofPassedAt place: Int64) -> Int64? {
    let ranges = passed.ranges
    let next = ranges.partitionIndex { $0.upperBound <= place }
    return next < ranges.count && ranges[next].lowerBound <= place ? ranges[next].upperBound : nil
  }
}
