import Assembly
import Testing
import Text

@Suite struct JSONTests {
  @Test func valuesAreWrittenInOrder() {
    var value: JSON = ["b": [.number(1), .null, .bool(true)], "a": .object([])]
    value.add("text", "x")
    value.add("none", nil as String?)
    value.add("missing", nil as JSON?)
    #expect(value.text == #"{"b": [1, null, true], "a": {}, "text": "x"}"#)
    #expect(
      value.document == """
        {
          "b": [
            1,
            null,
            true
          ],
          "a": {},
          "text": "x"
        }
        """)
    #expect(JSON.array([]).document == "[]" && JSON.number(.min).text == "-9223372036854775808")
  }

  @Test(arguments: [
    ("plain é 日", "plain é 日"), ("\"\\", #"\"\\"#), ("\n\t\r\u{0}\u{1f}\u{7f}", #"\n\t\u000d\u0000\u001f\u007f"#),
    ("</script>", #"\u003c/script>"#),
  ])
  func stringsAreEscaped(_ text: String, _ escaped: String) {
    #expect(JSON.string(text).text == "\"\(escaped)\"")
    #expect(JSONText.isPlain(text.utf8.span) == (text == escaped))
  }
}
