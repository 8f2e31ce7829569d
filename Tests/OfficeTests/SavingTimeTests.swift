import Testing

@testable import Office

/// When documents say that they were saved.
struct SavingTimeTests {
  private static func core(_ date: String) -> [UInt8] {
    MadeOffice.archive([
      ("docProps/core.xml", "<c><dcterms:modified xsi:type=\"W3CDTF\">\(date)</dcterms:modified></c>")
    ])
  }

  /// Summary information with one property, between other sectors.
  private static func compound(_ property: [UInt8], type: UInt8 = 64, from: UInt8 = 0) -> [UInt8] {
    let format: [UInt8] = [0xe0, 0x85, 0x9f, 0xf2, 0xf9, 0x4f, 0x68, 0x10, 0xab, 0x91, 8, 0, 0x2b, 0x27, 0xb3, 0xd9]
    let head: [UInt8] = [0xfe, 0xff] + [UInt8](repeating: 0, count: 26) + format + [48, from, 0, 0]
    let section: [UInt8] = [32, 0, 0, 0, 1, 0, 0, 0, 13, 0, 0, 0, 16, 0, 0, 0, type, 0, 0, 0]
    return [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1] + [UInt8](repeating: 1, count: 504) + head + section
      + property + [1, 2, 3]
  }

  static let rows: [(bytes: [UInt8], seconds: Int64?)] = [
    (core("2013-05-03T10:20:30Z"), 1_367_576_430),
    (MadeOffice.archive([("meta.xml", "<m><dc:date>2013-05-03T10:20:30.123456789</dc:date></m>")]), 1_367_576_430),
    (Array("{\\rtf1{\\info{\\revtim\\yr2013\\mo5\\dy3\\hr10\\min20}}}".utf8), 1_367_576_400),
    // 2001-09-09T01:46:40Z.
    (compound([0x00, 0x80, 0xff, 0x44, 0xd1, 0x38, 0xc1, 0x01]), 1_000_000_000),
    (compound([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]), nil), (compound([], type: 3), nil),
    (compound([], from: 255), nil), (core("1601-01-01T00:00:00Z"), nil), (core("99999999999999999-1-1"), nil),
    (core("soon"), nil), (MadeOffice.archive([("a", "b")]), nil), (Array("{\\rtf1\\revtim".utf8), nil),
    (Array("plain text of 2013-05-03".utf8), nil),
  ]

  @Test(arguments: rows.indices) func savingTimeIsReadFromDocuments(_ row: Int) throws {
    var seconds: Int64?
    _ = try MadeOffice.read(Self.rows[row].bytes) { (input, _) in seconds = SavingTime.seconds(of: input) }
    #expect(seconds == Self.rows[row].seconds)
  }
}
