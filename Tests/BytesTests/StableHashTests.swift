import Bytes
import Testing

/// Numbers that went out to users as inodes: they may not change from one version to the next.
@Suite struct StableHashTests {
  @Test func valuesAreAsTheyAlwaysWere() {
    #expect(StableHash().value == 0x9e37_79b9_7f4a_7c15)
    #expect(StableHash().adding(0).value == 0x6e78_9e6a_a1b9_65f4)
    #expect(StableHash(seed: 1).adding(2).adding(3).value == 0xbca4_02f6_74dd_d08d)
    var text = StableHash()
    text.combine(Array("photos.zip".utf8))
    #expect(text.value == 0x1c5f_b9cc_ecaf_709e)
  }

  @Test func lengthCounts() {
    func value(_ bytes: [UInt8]) -> UInt64 {
      var hash = StableHash()
      hash.combine(bytes)
      return hash.value
    }
    let values = Set((0..<40).map { value(Array(repeating: 0, count: $0)) })
    #expect(values.count == 40)
    #expect(value([1, 2]) != value([2, 1]))
  }

  @Test func orderCounts() {
    #expect(StableHash().adding(1).adding(2).value != StableHash().adding(2).adding(1).value)
  }

  @Test func runsHashAsTheirBytesDo() {
    for count in 0..<100 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 200) }
      var one = StableHash()
      one.combine(bytes)
      var run = StableHash()
      unsafe run.combine(bytes.span.bytes)
      #expect(one.value == run.value)
    }
  }
}
