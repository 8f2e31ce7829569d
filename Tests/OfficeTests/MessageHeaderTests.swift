import Foundation
import Testing

@testable import Office

/// The header of a message that is made of one of Outlook.
@Suite struct MessageHeaderTests {
  /// The text of encoded words (RFC 2047), each of which is decoded by itself.
  private func decoded(_ header: String) throws -> String {
    try header.components(separatedBy: "\n ").map { word in
      // Section 2: a word has at most 75 characters, and no character is divided.
      #expect(word.utf8.count <= 75 && word.hasPrefix("=?utf-8?B?") && word.hasSuffix("?="), "\(word)")
      let data = try #require(Data(base64Encoded: String(word.dropFirst(10).dropLast(2))))
      return try #require(String(bytes: data, encoding: .utf8), "\(word)")
    }.joined()
  }

  @Test(arguments: ["ä", "ü ", "€", "日本語", "😀", "e\u{301}", "aé", "abcdefg", "👩‍👩‍👧‍👦x"])
  func longTextIsInSeveralWords(_ part: String) throws {
    for count in [1, 7, 15, 22, 23, 45, 46, 200] {
      let text = "ß" + String(repeating: part, count: count)
      #expect(try decoded(MessageHeader.encoded(text)) == text)
    }
    #expect(try decoded(MessageHeader.encoded("ä\r\nb")) == "ä  b")
  }

  @Test func plainTextIsNotEncoded() throws {
    #expect(MessageHeader.encoded("plain  text\nhere") == "plain text here")
    for text in ["a\u{7f}", "a\u{1}", String(repeating: "a", count: 900)] {
      #expect(try decoded(MessageHeader.encoded(text)) == text)
    }
  }
}
