import Bytes
import TestSupport
import Testing

@testable import Tables

@Suite struct TableTests {
  /// Pieces that are split between any two bytes, also inside characters.
  @Test(arguments: TableFixture.all, [1, 2, 3, 7, .max])
  func alignedTextIsIndependentOfPieceSize(_ fixture: TableFixture, _ size: Int) throws {
    let text = try MadeText.text(fixture.bytes, .text, .table(delimiter: fixture.delimiter), pieces: size)
    #expect(text == fixture.text)
  }

  @Test(arguments: TableFixture.all)
  func tablePageIsIndependentOfPieceSize(_ fixture: TableFixture) throws {
    let content = TableForm.Content.table(delimiter: fixture.delimiter)
    let whole = try MadeText.text(fixture.bytes, .html, content)
    for size in [1, 2, 5] { #expect(try MadeText.text(fixture.bytes, .html, content, pieces: size) == whole) }
    // Only its own style, and nothing active.
    #expect(whole.hasPrefix("<!DOCTYPE html>") && whole.hasSuffix("</html>\n"))
    for word in ["<script", "src=", "href=", "url(", "@import"] { #expect(!whole.contains(word)) }
  }

  @Test func tablePageEscapesCellsAndMarksNumbers() throws {
    let table = "name,<n>\n\"a&b\nc\",1\n<script>alert(1)</script>,2.5\n\u{1b}\n"
    let page = try MadeText.text(Array(table.utf8), .html, .table(delimiter: UInt8(ascii: ",")))
    #expect(
      MadeText.rows(page) == """
        <thead>
        <tr><th>name<th class=n>&lt;n&gt;</thead>
        <tbody>
        <tr><td>a&amp;b
        c<td class=n>1
        <tr><td>&lt;script&gt;alert(1)&lt;/script&gt;<td class=n>2.5
        <tr><td>␛<td colspan=1>
        </tbody>

        """)
  }

  @Test func controlCharactersAreShownAsSymbols() throws {
    // One per cell, so that each is tested separately.
    for byte in [0x00, 0x1f, 0x7f] as [UInt8] {
      let page = try MadeText.text([0x61, 0x0a, byte, 0x0a], .html, .table(delimiter: UInt8(ascii: ",")))
      let picture = byte == 0x7f ? "\u{2421}" : String(Unicode.Scalar(0x2400 + UInt32(byte))!)
      #expect(MadeText.rows(page).contains("<tr><td>\(picture)\n"), "\(byte)")
    }
  }

  @Test func titleIsEscaped() throws {
    var converters = TextDecoder.Converters()
    var page = try MadeText.rewriting([], .html, .table(delimiter: 44), title: "</title><b>&.csv")
    let made = String(decoding: page.rewrite([], isLast: true, &converters), as: UTF8.self)
    #expect(made.contains("<title>&lt;/title&gt;&lt;b&gt;&amp;.csv</title>"))
  }

  /// A cell spans at most a thousand missing columns, which is the browsers' limit.
  @Test(arguments: [(300, 299), (1001, 1000), (1200, 1000)]) func shortRowIsPadded(columns: Int, span: Int) throws {
    let first = Array(repeating: "a", count: columns).joined(separator: ",")
    let page = try MadeText.text(Array("\(first)\nb\n".utf8), .html, .table(delimiter: 44))
    #expect(MadeText.rows(page).contains("<tr><td>b<td colspan=\(span)>\n"))
  }

  @Test func tenThousandColumnsAreShown() throws {
    let row = (0..<10_000).map(String.init).joined(separator: ",")
    let table = Array("\(row)\n\(row)\n".utf8)
    let page = try MadeText.text(table, .html, .table(delimiter: UInt8(ascii: ",")))
    #expect(page.ranges(of: "<th").count - 1 == 10_000)
    #expect(page.ranges(of: "<td").count == 10_000)
    let lines = try MadeText.text(table, .text, .table(delimiter: UInt8(ascii: ","))).split(separator: "\n")
    #expect(lines.count == 3 && Set(lines.map(\.count)).count == 1 && lines[2].hasSuffix("  9999"))
  }

  @Test func overlongCellDoesNotShiftTheNextRow() throws {
    let long = String(repeating: "x", count: 10_000)
    let table = Array("a,b\nu,v\n\(long),w\n".utf8)
    for size in [100, .max] {
      let lines = try MadeText.text(table, .text, .table(delimiter: 44), pieces: size).split(separator: "\n")
      // As wide as the maximum width of a column.
      #expect(lines[2] == "u" + String(repeating: " ", count: 51) + "v")
      #expect(lines[3] == long + "  w")
    }
  }

  @Test func outputSizeIsProportionalToInputSize() throws {
    // With each of these a careless reader would write far more than it reads.
    let wide = String(repeating: "w", count: 50)
    let first = Array(repeating: wide, count: 2_000).joined(separator: ",")
    let table = Array((first + "\n" + String(repeating: ",\n", count: 20_000)).utf8)
    for form in TableForm.allCases {
      #expect(try MadeText.text(table, form, .table(delimiter: 44)).utf8.count < 40 * table.count)
    }
  }

  @Test func latinLettersAfterLongASCIIPrefixAreDecoded() throws {
    let table = Array(String(repeating: "abc,def\n", count: 40_000).utf8) + [0xe4, 0x2c, 0xf6, 0x0a]
    let text = try MadeText.text(table, .text, .table(delimiter: 44), pieces: 65_536)
    #expect(text.hasSuffix("abc  def\nä    ö\n"))
  }

  @Test(arguments: [
    ("1", true), ("-1.5", true), ("1,234.56", true), ("1.234,56 €", true), ("$5", true), ("12%", true), ("3e-7", true),
    ("(12)", true), ("0", true), ("0.5", true), ("1'000", true), (".5", true), ("-", false), ("", false),
    ("007", false),
    ("1.2.3", false), ("192.168.1.1", false), ("2024-05-01", false), ("12:30", false), ("1e", false), ("e5", false),
    ("1,2,3", false), ("a1", false), ("1a", false), ("+49 30", true), ("€", false),
  ])
  func numbersAreRecognized(_ text: String, _ isNumber: Bool) {
    #expect(NumberForm.matches(Array(text.utf8)) == isNumber, "\(text)")
  }

  @Test func mutatedTablesAreIndependentOfPieceSize() throws {
    var random = SeededNumbers(seed: 7)
    for fixture in TableFixture.all where !fixture.bytes.isEmpty {
      for _ in 0..<12 {
        var bytes = fixture.bytes
        for _ in 0..<3 { bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next()) }
        for form in TableForm.allCases {
          let whole = try MadeText.text(bytes, form, .table(delimiter: 44))
          #expect(try MadeText.text(bytes, form, .table(delimiter: 44), pieces: 3) == whole)
        }
      }
    }
  }
}
