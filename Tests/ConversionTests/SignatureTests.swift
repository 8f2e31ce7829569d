import Catalogue
import Testing

/// Formats that are recognised by several bytes, all of which count.
@Suite struct SignatureTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let format: Format
    let head: [UInt8]
    /// By index, a value that makes it another file.
    let wrong: KeyValuePairs<Int, UInt8>
    var testDescription: String { format.name }
  }

  private static let compound: [UInt8] =
    [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1] + [UInt8](repeating: 0, count: 24)

  private static func stream(_ name: String) -> [UInt8] { compound + name.utf8.flatMap { [$0, 0] } }

  static let cases = [
    Case(
      format: .ico, head: [0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0, 40, 4, 0, 0, 22, 0, 0, 0],
      wrong: [0: 1, 1: 1, 2: 3, 3: 1, 4: 0, 5: 1, 9: 1, 18: 21]),
    Case(format: .sgi, head: [1, 0xda, 0, 2, 0, 3], wrong: [0: 2, 1: 0, 2: 2, 3: 3, 4: 1, 5: 4]),
    Case(
      format: .xwd, head: [0, 0, 0, 100, 0, 0, 0, 7, 0, 0, 0, 2, 0, 0, 0, 24], wrong: [0: 1, 3: 0, 7: 8, 11: 3]),
    Case(format: .pcx, head: [10, 5, 1, 8], wrong: [0: 11, 1: 1, 2: 2, 3: 3]),
    Case(format: .doc, head: stream("WordDocument"), wrong: [0: 0, 7: 0, 32: 0x58]),
    Case(format: .xls, head: stream("Workbook"), wrong: [0: 0, 7: 0, 32: 0x58]),
    Case(format: .ppt, head: stream("PowerPoint Document"), wrong: [0: 0, 7: 0, 32: 0x58]),
  ]

  @Test(arguments: cases) func everyByteOfASignatureCounts(_ one: Case) {
    #expect(one.format.isSignature(one.head[...]))
    for (index, value) in one.wrong {
      var head = one.head
      head[index] = value
      #expect(!one.format.isSignature(head[...]), "byte \(index)")
    }
    for count in 0..<min(one.head.count, 4) { #expect(!one.format.isSignature(one.head[..<count])) }
  }

  /// Arguments have one form, since results are kept under them.
  @Test(arguments: [
    ("8-10-1f", true), ("98-348894-1f2e3d4c", true), ("0-0-", true), ("08-10-1f", false), ("8-010-1f", false),
    ("8-10-1F", false), ("8-10-01f", false), ("+8-10-1f", false), ("8-+10-1f", false), ("8-10", false),
    ("8-10-1f-", false), ("8--10-1f", false), ("8-10-1ffffffff", false), ("70000-1-1", false), ("", false),
  ])
  func packedEntriesHaveOneForm(_ text: String, _ isValid: Bool) {
    #expect(PackedEntry(text[...])?.description == (isValid ? text : nil))
  }
}
