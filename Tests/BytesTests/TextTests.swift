import Testing
import Text
import Threads

@Suite struct TextTests {
  @Test(arguments: [
    ("UTF-32", 4), ("UTF-32LE", 4), ("UTF32", 4), ("UCS-4", 4), ("UTF-16BE", 2), ("UTF16", 2), ("UCS-2", 2),
    ("UNICODE", 2), ("UTF-8", 1), ("CP932", 1), ("UTF-7", 1),
  ])
  func unitOfACharacterSet(_ name: String, _ width: Int) { #expect(CharsetConverter.unitWidth(name) == width) }

  /// Invalid characters are skipped in whole units, so that the following text is decoded correctly.
  @Test(arguments: ["UTF-32LE", "UTF32"]) func textGoesOnBehindABadUnit(_ name: String) throws {
    let converter = try #require(CharsetConverter(name))
    let mark: [UInt8] = name == "UTF32" ? [0xff, 0xfe, 0, 0] : []
    let text: [UInt8] = mark + [0x61, 0, 0, 0, 0, 0, 0x11, 0x7f, 0x62, 0, 0, 0]
    #expect(String(decoding: converter.repaired(text[...]), as: UTF8.self) == "a\u{fffd}b")
  }
}

@Suite struct LRUCacheTests {
  /// The most recently used three quarters are kept.
  @Test func fullCacheDropsWhatWasUsedLongestAgo() {
    let cache = LRUCache<Int, Int>(capacity: 100)
    for key in 0..<10 { cache.insert(key, for: key, cost: 10) }
    #expect((0..<10).allSatisfy { cache[$0] == $0 })
    #expect(cache[0] == 0)
    cache.insert(10, for: 10, cost: 10)
    #expect((0...10).filter { cache[$0] != nil } == [0, 5, 6, 7, 8, 9, 10])
    #expect(cache.held == 70)
  }
}
