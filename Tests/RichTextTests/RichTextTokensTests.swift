import RichText
import Testing

@Suite struct RichTextTokensTests {
  /// Returns the tokens of RTF that arrives in pieces.
  private func tokens(_ text: String, piece: Int = .max) -> [String] {
    let bytes = Array(text.utf8)
    var tokens = RichTextTokens()
    var (found, kept, read) = ([String](), [UInt8](), 0)
    repeat {
      let more = bytes[read...].prefix(piece)
      read += more.count
      kept += more
      var index = 0
      while let token = tokens.next(kept.span, &index, isLast: read == bytes.count) { found.append("\(token)") }
      kept.removeFirst(index)
      #expect(kept.count < 2 << 10)
    } while read < bytes.count
    #expect(kept.isEmpty)
    return found
  }

  @Test(arguments: [
    (#"{\b0 a}"#, ["open", #"word("b", Optional(0), isOptional: false)"#, #"text("a")"#, "close"]),
    (#"\*\pn-12x"#, [#"word("pn", Optional(-12), isOptional: true)"#, #"text("x")"#]),
    (#"{\*\f1 x}"#, ["open", #"word("f", Optional(1), isOptional: true)"#, #"text("x")"#, "close"]),
    (#"a\bin3 {\'b"#, [#"text("a")"#, #"text("b")"#]), (#"\bin9 x"#, []), (#"\bin-1 x"#, [#"text("x")"#]),
    (#"\'41\'zb\'"#, [#"text("Azb")"#]), ("a\\", [#"text("a")"#]), (#"\|\:x"#, [#"text("x")"#]),
    (#"\b99999999999999999999999"#, [#"word("b", Optional(2147483647), isOptional: false)"#, #"text("999")"#]),
    (
      #"\u-10179?\u-8704?\u-8704 ?\u-10179 ?x"#,
      [#"character("\u{0001F600}")"#, #"character("\u{FFFD}")"#, #"text("x")"#]
    ),
    (
      #"\u8212\emdash x{\u233 }\'e9"#,
      [#"character("\u{2014}")"#, #"text("x")"#, "open", #"character("\u{00E9}")"#, "close", #"text("é")"#]
    ),
    (#"\uc2\u20\'81\'40x"#, [#"character("\u{14}")"#, #"text("x")"#]),
    (
      #"{\fonttbl{\f1\fcharset128 A;}{\f2\fcharset2 B;}}\f1\'83A\f2\'b7\f3\'b7"#,
      [
        "open", #"word("fonttbl", nil, isOptional: false)"#, "open", #"text("A;")"#, "close", "open", #"text("B;")"#,
        "close",
        "close", #"text("ア")"#, "text(\"\u{f0b7}\")", #"text("·")"#,
      ]
    ),
  ])
  func tokensFollowTheFormat(_ text: String, _ expected: [String]) {
    #expect(tokens(text) == expected)
  }

  @Test(arguments: [1, 2, 3, 7, 100, 511, 1024, 2047]) func tokensAreIndependentOfPieces(piece: Int) {
    let words = #"{\rtf1\ansi{\fonttbl{\f0\fcharset204 A;}}\f0\'ef\u8364?\u-10179?\u-8704?\bin3 }}} b\par c\tab}\'"#
    let long = String(repeating: "long text ", count: 300) + String(repeating: #"\'93\'fa"#, count: 600)
    let text =
      words + "{\\f0 " + long + "}" + String(repeating: "\n", count: 3000) + String(repeating: "x", count: 3000)
    #expect(tokens(text, piece: piece) == tokens(text))
  }

  @Test func groupsRestoreTheStateOfTheEnclosingOne() {
    var groups = RichTextGroups(0)
    for depth in 1...5000 {
      groups.open()
      groups.current = depth
    }
    #expect(groups.depth == 5000)
    for _ in 1000..<5000 { groups.close() }
    // The deepest groups have one state.
    #expect(groups.current == 5000)
    groups.close()
    #expect(groups.current == 999)
    for _ in 0..<1000 { groups.close() }
    #expect(groups.current == 0 && groups.depth == 0)
  }
}
