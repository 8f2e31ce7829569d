import Testing

@testable import Catalogue

@Suite struct BundleTests {
  @Test func bundleMemberListRoundTrips() throws {
    for members in [[], [("a.pdf", 1)], [("ü 2.png", 0), ("", 1 << 40), ("c", 7)]] as [[(String, Int64)]] {
      let bundle = Bundle(members.map { Bundle.Member(name: $0.0, size: $0.1) })
      #expect(Bundle.listSize(Array(bundle.list.prefix(8))) == Int64(bundle.list.count))
      #expect(Bundle(list: bundle.list)?.members == bundle.members)
      for count in 9..<max(9, bundle.list.count) where count < bundle.list.count {
        // A truncated list gives none or fewer members, but no others.
        let part = Bundle(list: Array(bundle.list[..<count]))?.members ?? []
        #expect(part.elementsEqual(bundle.members.prefix(part.count)))
      }
    }
    #expect(Bundle.listSize([]) == nil && Bundle.listSize([1, 0, 0, 0, 0, 0, 0, 0]) == nil)
    #expect(Bundle.listSize([UInt8](repeating: 0xff, count: 8)) == nil)
    for (size, isOne) in [(Int64(Bundle.longestList), true), (Int64(Bundle.longestList) + 1, false), (.max, false)] {
      let lead = (0..<8).map { UInt8(truncatingIfNeeded: size >> (8 * Int64($0))) }
      #expect(Bundle.listSize(lead) == (isOne ? size : nil))
    }
    #expect(Bundle(list: [UInt8](repeating: 0xff, count: 40)) == nil)
  }
}
