import Bytes
import Codecs
import TestSupport
import Testing
import Zip

/// Streams of Deflate64 that programs do not write, but may.
@Suite struct Deflate64Tests {
  private func decoded(_ data: [UInt8], _ text: String) throws -> [UInt8] {
    let entry = ZipFixtureEntry("a", text).with {
      $0.method = 9
      $0.data = data
    }
    let archive = try ZipArchive(
      ByteArraySource(ZipFixture(entry).bytes()), modified: ZipArchive.testTime, cache: BlockCache(capacity: 2 << 20),
      options: ZipOptions())
    return try archive.content(of: #require(archive.find("a")))
  }

  private static let stored: [UInt8] = [3, 0, 0xfc, 0xff] + Array("xyz".utf8)
  /// A block with the letter a, which ends within a byte.
  private static let letter: [UInt8] = [0x4a, 0x04]

  @Test func storedBlocksBeginWithAByte() throws {
    #expect(try decoded([1] + Self.stored, "xyz") == Array("xyz".utf8))
    #expect(try decoded(Self.letter + [0x04] + Self.stored, "axyz") == Array("axyz".utf8))
    #expect(try decoded([0] + Self.stored + [0, 0, 0, 0xff, 0xff, 1] + Self.stored, "xyzxyz") == Array("xyzxyz".utf8))
    #expect(try decoded([0] + Self.stored + [0x4b, 0x04, 0], "xyza") == Array("xyza".utf8))
  }

  @Test func invalidBlocksAreFaults() {
    var odd = Self.stored
    odd[2] ^= 1
    for (data, text) in [
      ([1] + odd, "xyz"), ([7, 0, 0, 0], "xyz"), ([1] + Self.stored.dropLast(), "xyz"), ([0] + Self.stored, "xyza"),
    ] {
      #expect(throws: Fault.self, "\(data)") { try decoded(data, text) }
    }
  }
}
