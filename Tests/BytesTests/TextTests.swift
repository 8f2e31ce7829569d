import Testing
import Text

@Suite struct TextTests {
  @Test(arguments: [
    ("UTF-32", 4), ("UTF-32LE", 4), ("UTF32", 4), ("UCS-4", 4), ("UTF-16BE", 2), ("UTF16", 2), ("UCS-2", 2),
    ("UNICODE", 2), ("UTF-8", 1), ("CP932", 1), ("UTF-7", 1),
  ])
  func charsetHasItsCodeUnitSize(_ name: String, _ width: Int) { #expect(CharsetConverter.unitWidth(name) == width) }

  /// Invalid characters are skipped in whole units, so that the following text is decoded correctly.
  @Test(arguments: ["UTF-32LE", "UTF32"]) func textAfterInvalidUnitIsDecoded(_ name: String) throws {
    let converter = try #require(CharsetConverter(name))
    let mark: [UInt8] = name == "UTF32" ? [0xff, 0xfe, 0, 0] : []
    let text: [UInt8] = mark + [0x61, 0, 0, 0, 0, 0, 0x11, 0x7f, 0x62, 0, 0, 0]
    #expect(String(decoding: converter.repaired(text[...]), as: UTF8.self) == "a\u{fffd}b")
  }
}
