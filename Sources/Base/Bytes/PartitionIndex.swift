extension RandomAccessCollection {
  /// Returns the index after the elements for which `isBefore` is true, which must precede all others. O(log n).
  @inlinable
  public func partitionIndex(where isBefore: (Element) -> Bool) -> Index {
    var (start, rest) = (startIndex, count)
    while rest > 0 {
      let half = rest / 2
      let middle = index(start, offsetBy: half)
      if isBefore(self[middle]) {
        start = index(after: middle)
        rest -= half + 1
      } else {
        rest = half
      }
    }
    return start
  }
}
