import Bytes
import TestSupport
import Testing

/// Clamping of untrusted numbers.
@Suite struct BoundsTests {
  @Test(arguments: [
    Int64.min, -1, 0, 1, Bounds.largestSize - 1, Bounds.largestSize, Bounds.largestSize + 1, .max - 510, .max,
  ])
  func claimedSizesAreBounded(_ claimed: Int64) {
    let size = Bounds.size(claimed)
    #expect((0...Bounds.largestSize).contains(size))
    #expect((size == claimed) == Bounds.holds(claimed))
    #expect(Bounds.size(UInt64(bitPattern: claimed)) == (claimed < 0 ? Bounds.largestSize : size))
    // Sums of clamped numbers that the code computes cannot overflow.
    #expect(size * 4 + 4096 > 0 && size + size + 30 > 0)
    for other in [Int64.min, 5, .max] { #expect(Bounds.holds(Bounds.sum(claimed, other))) }
    #expect(Bounds.size(blocks: claimed) % 512 == 0 && Bounds.holds(Bounds.size(blocks: claimed)))
    #expect(abs(1_700_000_000 - Bounds.time(claimed)) < 1 << 41)
  }

  @Test func sumsWithinBoundsAreExact() {
    #expect(Bounds.sum(3, 4) == 7 && Bounds.sum(Bounds.largestSize, 1) == Bounds.largestSize)
    #expect(Bounds.size(blocks: 3) == 1536)
  }

  @Test(arguments: [Int64.max, .max - 1, .min, -1, 10, 20, 21])
  func rangeAcceptsAnyOffset(_ offset: Int64) throws {
    let range = ByteRange(of: ByteArraySource(Array(0..<100)), start: 10, size: 20)
    try range.willMove(at: offset, count: 10, .blocking)
    range.prepare(at: offset)
    #expect(range.workAhead(of: offset) == .none)
    #expect(range.extent(at: offset, count: .max) == nil)
    #expect(try range.partialBytes(at: offset, count: 5).count == (offset == 10 ? 5 : 0))
  }

  @Test(arguments: [(Int64.max, Int64.max), (.max - 5, 10), (-5, 10), (5, .max), (5, -1)])
  func invalidRangeDoesNotReadBeyondItsSource(start: Int64, size: Int64) {
    let range = ByteRange(of: ByteArraySource(Array(0..<4)), start: start, size: size)
    #expect(Bounds.holds(range.size))
    for offset in [0, 1, size / 2, size &- 1, .max] {
      let bytes = try? range.partialBytes(at: offset, count: 10)
      #expect(bytes?.count ?? 0 <= 4)
    }
  }
}
