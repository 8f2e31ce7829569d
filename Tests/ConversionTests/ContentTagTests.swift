import Testing

@testable import Jobs

@Suite struct ContentTagTests {
  /// RFC 8439, section 2.5.2.
  private static let key: [UInt8] = [
    0x85, 0xd6, 0xbe, 0x78, 0x57, 0x55, 0x6d, 0x33, 0x7f, 0x44, 0x52, 0xfe, 0x42, 0xd5, 0x06, 0xa8, 0x01, 0x03, 0x80,
    0x8a, 0xfb, 0x0d, 0xb2, 0xfd, 0x4a, 0xbf, 0xf6, 0xaf, 0x41, 0x49, 0xf5, 0x1b,
  ]
  private static let message = Array("Cryptographic Forum Research Group".utf8)
  private static let tag: [UInt8] = [
    0xa8, 0x06, 0x1d, 0xc1, 0x30, 0x51, 0x36, 0xc6, 0xc2, 0x2b, 0x8b, 0xaf, 0x0c, 0x01, 0x27, 0xa9,
  ]

  private func tag(of pieces: [ArraySlice<UInt8>], key: [UInt8] = key) throws -> [UInt8] {
    let content = try #require(ContentTag(key: key))
    for piece in pieces {
      let isAdded = unsafe piece.withUnsafeBytes { unsafe content.add($0) }
      #expect(isAdded)
    }
    return try #require(content.finish())
  }

  @Test func tagMatchesStandardTestVector() throws { #expect(try tag(of: [Self.message[...]]) == Self.tag) }

  @Test func tagIsIndependentOfChunking() throws {
    for count in 1...Self.message.count {
      let pieces = stride(from: 0, to: Self.message.count, by: count).map { Self.message[$0...].prefix(count) }
      #expect(try tag(of: pieces) == Self.tag, "of \(count) bytes")
    }
    #expect(try tag(of: [[], Self.message[...], []]) == Self.tag)
  }

  @Test func tagDependsOnEveryBitOfContentAndKey() throws {
    var tags: Set<[UInt8]> = [Self.tag]
    for bit in 0..<8 * Self.message.count {
      var other = Self.message
      other[bit / 8] ^= 1 << (bit % 8)
      #expect(tags.insert(try tag(of: [other[...]])).inserted)
    }
    var other = Self.key
    other[31] ^= 1
    #expect(try tag(of: [Self.message[...]], key: other) != Self.tag)
    #expect(try tag(of: [Self.message.dropLast()]) != Self.tag)
    // Of nothing it is the second half of the key (section 2.5).
    #expect(try tag(of: []) == Array(Self.key[16...]))
  }

  @Test(arguments: [0, 16, 31, 33]) func keysOfOtherSizesAreRefused(_ size: Int) {
    #expect(ContentTag(key: Array(repeating: 1, count: size)) == nil)
  }
}
