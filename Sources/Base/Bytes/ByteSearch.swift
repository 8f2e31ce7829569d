internal import Glibc

extension Collection where Element == UInt8, Index == Int {
  /// Returns the range of the first occurrence of a pattern. Returns `nil` if there is none, and an empty range at the
  /// start for an empty pattern. O(n * m), for usual texts O(n).
  ///
  /// The standard library's `firstRange(of:)` takes about fifty times as long.
  public func firstOccurrence(of pattern: some Collection<UInt8>) -> Range<Int>? {
    let pattern = Array(pattern)
    guard let first = pattern.first else { return startIndex..<startIndex }
    let offset = withContiguousStorageIfAvailable { bytes -> Int? in
      guard let start = unsafe UnsafeRawPointer(bytes.baseAddress), bytes.count >= pattern.count else { return nil }
      let last = bytes.count - pattern.count
      var place = 0
      while place <= last, let next = unsafe memchr(start + place, Int32(first), last + 1 - place) {
        place = unsafe UnsafeRawPointer(next) - start
        let isEqual = unsafe pattern.withUnsafeBytes { pattern in
          unsafe memcmp(start + place, pattern.baseAddress ?? start, pattern.count) == 0
        }
        if isEqual { return place }
        place += 1
      }
      return nil
    }
    guard let offset else {
      // Without contiguous storage, such as a lazy collection.
      return Array(self).firstOccurrence(of: pattern).map { $0.lowerBound + startIndex..<$0.upperBound + startIndex }
    }
    return offset.map { startIndex + $0..<startIndex + $0 + pattern.count }
  }
}
