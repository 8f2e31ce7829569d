import Assembly
import Testing

@Suite struct OctalEscapesTests {
  @Test(arguments: [
    ("plain é", "plain é"), (#"a\b"#, #"a\134b"#), ("a\nb\t", #"a\012b\011"#), ("\u{7f}\u{1}", #"\177\001"#),
    (#"\134"#, #"\134134"#),
  ])
  func octalEscapesRoundTrip(_ text: String, _ escaped: String) {
    #expect(String(decoding: OctalEscapes.encoded(text), as: UTF8.self) == escaped)
    #expect(OctalEscapes.decoded(Array(escaped.utf8)[...]) == text)
  }
}
