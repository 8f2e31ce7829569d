import Bytes
import Testing

@testable import Mail

@Suite struct InlineFileTests {
  private static let part = "=ybegin part=1 line=128 size=9 name=x\n=ypart begin=1 end=3\n"

  /// Files in yEnc are compared with the size and the checksum in their last line; of a part, with its own.
  @Test(arguments: [
    ("=ybegin line=128 size=3 name=x\nmz~\n=yend size=3 crc32=5b202232\n", nil),
    (part + "mz~\n=yend size=3 part=1 pcrc32=5B202232 crc32=12345678\n", nil),
    ("=ybegin line=128 size=3 name=x\nmz~\n=yend size=3\n", nil),
    (
      "=ybegin line=128 size=3 name=x\nmz}\n=yend size=3 crc32=5b202232\n",
      "expected CRC-32 5b202232, found"
    ),
    (part + "mz}\n=yend size=3 part=1 pcrc32=5b202232\n", "expected CRC-32 5b202232, found"),
    ("=ybegin line=128 size=3 name=x\nmz\n=yend size=3\n", "expected 3 bytes of yEnc, found 2"),
    ("=ybegin line=128 size=3 name=x\nmz~\n", "expected the end of a yEnc-encoded file, found none"),
  ])
  func damageOfYEncIsFound(_ text: String, _ reason: String?) throws {
    let files = try InlineFile.find(in: ByteArraySource(Array(text.utf8)))
    #expect(files.count == 1)
    if let reason {
      #expect(files.first?.damage?.reason.hasPrefix(reason) == true, "\(files.first?.damage?.reason ?? "none")")
    } else {
      #expect(files.first?.damage == nil)
    }
  }
}
