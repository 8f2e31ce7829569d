import Bytes
import Testing

/// Numbers that users have seen as inodes: they must not change from one version to the next.
@Suite struct StableHashTests {
  @Test func hashValuesAreStable() {
    #expect(StableHash().value == 0x9e37_79b9_7f4a_7c15)
    #expect(StableHash().adding(0).value == 0x6e78_9e6a_a1b9_65f4)
    #expect(StableHash(seed: 1).adding(2).adding(3).value == 0xbca4_02f6_74dd_d08d)
    var text = StableHash()
    text.combine(Array("photos.zip".utf8))
    #expect(text.value == 0x1c5f_b9cc_ecaf_709e)
  }

  @Test func hashDependsOnLength() {
    func value(_ bytes: [UInt8]) -> UInt64 {
      var hash = StableHash()
      hash.combine(bytes)
      return hash.value
    }
    let values = Set((0..<40).map { value(Array(repeating: 0, count: $0)) })
    #expect(values.count == 40)
    #expect(value([1, 2]) != value([2, 1]))
  }

  @Test func hashDependsOnOrder() {
    #expect(StableHash().adding(1).adding(2).value != StableHash().adding(2).adding(1).value)
  }

  @Test func hashOfSpanEqualsHashOfBytes() {
    for count in 0..<100 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 200) }
      var one = StableHash()
      one.combine(bytes)
      var run = StableHash()
      unsafe run.combine(bytes.span.bytes)
      #expect(one.value == run.value)
    }
  }

  @Test func longHashDependsOnEachBit() {
    func value(_ bytes: [UInt8]) -> UInt64 {
      var hash = StableHash()
      unsafe hash.combine(long: bytes.span.bytes)
      return hash.value
    }
    let bytes = (0..<100).map { UInt8($0) }
    #expect(value(bytes) == value(bytes))
    var seen: Set<UInt64> = [value(bytes), value(bytes + [0])]
    for bit in 0..<800 {
      var other = bytes
      other[bit / 8] ^= 1 << UInt8(bit % 8)
      seen.insert(value(other))
    }
    #expect(seen.count == 802)
  }
}
