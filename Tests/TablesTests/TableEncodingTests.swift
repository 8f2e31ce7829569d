import TestSupport
import Testing

@testable import Tables

@Suite struct TextEncodingTests {
  private static func utf16(_ text: String, isBig: Bool = false) -> [UInt8] {
    text.utf16.flatMap { isBig ? [UInt8($0 >> 8), UInt8($0 & 0xff)] : [UInt8($0 & 0xff), UInt8($0 >> 8)] }
  }

  private static func utf32(_ text: String, isBig: Bool = false) -> [UInt8] {
    text.unicodeScalars.flatMap { scalar in
      let bytes = (0..<4).map { UInt8(truncatingIfNeeded: scalar.value >> (8 * $0)) }
      return isBig ? bytes.reversed() : bytes
    }
  }

  private static let zeros = [UInt8](repeating: 0, count: 3000)

  @Test(arguments: [
    utf16("a,b\n1,2\n"), utf16("[\"ä\"]"), utf16("[]"), utf16("[]") + zeros, utf16("a,b\n1,2\n") + zeros,
    utf16("京都,東京\n大阪,名古屋\n"),
    utf16("имя,год\nИван,да\n"), utf16("\u{3000},京\u{3000}\n1,2\n3,4\n"),
  ])
  func utf16WithoutByteOrderMarkIsDetected(_ bytes: [UInt8]) {
    #expect(TableEncoding(ofTextStartingWith: bytes[...]) == .utf16LittleEndian)
    let swapped = stride(from: 0, to: bytes.count, by: 2).flatMap { [bytes[$0 + 1], bytes[$0]] }
    #expect(TableEncoding(ofTextStartingWith: swapped[...]) == .utf16BigEndian)
  }

  @Test(arguments: ["[]", "a,b\nä,京\n", "имя,год\n"])
  func utf32WithoutByteOrderMarkIsDetected(_ text: String) {
    for filling in [[], Self.zeros] {
      #expect(TableEncoding(ofTextStartingWith: (Self.utf32(text) + filling)[...]) == .utf32LittleEndian)
      #expect(TableEncoding(ofTextStartingWith: (Self.utf32(text, isBig: true) + filling)[...]) == .utf32BigEndian)
    }
  }

  @Test(arguments: [
    "", "\0\0\0\0", "1\0\0\0", "a,b\n1\0,2\n", "{\"a\":0}\0", "a,b\n1,\0\n2,\0\n", "a,b\0\n1,2\0\n3,4\0\n",
  ])
  func nulBytesDoNotIndicateWideEncoding(_ text: String) {
    #expect(TableEncoding(ofTextStartingWith: Array(text.utf8)[...]) == .undecided)
    let filled = Array(text.utf8) + Self.zeros
    #expect(TableEncoding(ofTextStartingWith: filled[...]) == .undecided)
  }

  @Test func nulPaddingDoesNotDecideEncoding() {
    let start = Array("a,b\n".utf8)
    // The NULs are at the end of the first kilobytes, or followed by text.
    for rows in 1...101 {
      let bytes = start + Array(String(repeating: "1,2\n", count: rows).utf8.dropLast(rows % 3)) + Self.zeros
      #expect(TableEncoding(ofTextStartingWith: bytes[...]) == .undecided)
      #expect(TableEncoding(ofTextStartingWith: (bytes + start)[...]) == .undecided)
    }
  }

  @Test func fewInvalidBytesDoNotPreventUTF8Detection() throws {
    let bad = Array("id,name\n1,caf".utf8) + [0xe9, 0x20, 0xff]
    let good = Array("\n2,Müller Straße €\n".utf8)
    // As many invalid bytes as valid characters: the first one decides.
    #expect(TableEncoding(ofTextStartingWith: (bad + good.dropLast(4))[...]) == .undecided)
    #expect(TableEncoding(ofTextStartingWith: (bad + good)[...]) == .utf8)
    // A character truncated at the end is not an error.
    #expect(TableEncoding(ofTextStartingWith: (bad + good + Array("€".utf8.dropLast()))[...]) == .utf8)
    for size in [1, 5, .max] {
      let text = try MadeText.text(bad + good, .text, .table(delimiter: 44), pieces: size)
      #expect(text.hasSuffix(" 1  caf\u{fffd} \u{fffd}\n 2  Müller Straße €\n"), "\(text)")
    }
  }

  @Test func mostlyLatinTextIsNotDetectedAsUTF8() {
    let latin = "größer, früher, spät".unicodeScalars.map { UInt8($0.value) }
    #expect(TableEncoding(ofTextStartingWith: (latin + Array("é".utf8))[...]) == .undecided)
  }
}
