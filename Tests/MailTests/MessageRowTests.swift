import Bytes
import TestSupport
import Testing

@testable import Mail

@Suite struct MessageRowTests {
  static let header = """
    From - Mon Jan  1 00:00:00 2018
    X-GM-THRID: 1500000000000000001
    X-Gmail-Labels: =?UTF-8?Q?Inbox,Privat/=C3=9Cbung,"a,b",?=
     =?UTF-8?Q?Last?=
    X-Mozilla-Status: 0009
    Date: Fri, 3 May 2024 23:30:00 -0700
    From: =?utf-8?q?J=C3=BCrgen?= <j@example.org>
    Message-ID: <a@x>
    In-Reply-To: <d@x>
    References: <b@x>
     <c@
     x>
    Subject: Q3/Q4
      numbers
    """

  static func row(_ text: String) throws -> MessageRow? { try rows(Array(text.utf8)).first }

  @Test func rowFieldsAreTakenFromHeader() throws {
    let row = try #require(try Self.row(Self.header + "\n\nbody\n"))
    #expect(row.thread == 1_500_000_000_000_000_001)
    #expect(row.labels == ["Inbox", "Privat/Übung", "a,b", "Last"])
    #expect(row.isDeleted)
    #expect(row.date == 1_714_804_200 && row.zone == -420)
    #expect(row.sender == "Jürgen" && row.address == "j@example.org")
    func hash(_ id: String) -> UInt64 { MessageRow.hash(ofID: Array(id.utf8)[...]) }
    #expect(row.messageID == hash("a@x"))
    #expect(row.references == [hash("b@x"), hash("c@x"), hash("d@x")])
    #expect(row.folderName(position: 123).text == "000123 2024-05-03 Jürgen - Q3-Q4 numbers")
  }

  @Test func missingDateIsTakenFromSeparator() throws {
    let row = try #require(try Self.row("From a@x Mon Jan  1 10:00:00 +0100 2018\nSubject: x\n\n"))
    #expect(row.date == 1_514_797_200 && row.zone == 60)
    #expect(try Self.row("From - \nSubject: x\n\n")?.date == nil)
  }

  @Test func keepsTheFirstAndTheLastReferences() throws {
    let ids = (0..<100).map { "<\($0)@x>" }
    let row = try #require(try Self.row("From - \nReferences: \(ids.joined(separator: " "))\n\n"))
    let kept = [0] + (37..<100)
    #expect(row.references == kept.map { MessageRow.hash(ofID: Array("\($0)@x".utf8)[...]) })
  }

  static let names: [(sender: String, subject: String, date: Int64?, name: String)] = [
    ("Ann", "Hello", 0, "000007 1970-01-01 Ann - Hello"), ("", "", nil, "000007 undated unknown sender - no subject"),
    ("a/b\u{0}c", "x\u{202e}y\u{2066}z\t\n  w ", 0, "000007 1970-01-01 a-bc - xyz w"),
    ("\u{202e}", "\u{7}\u{a0}", 0, "000007 1970-01-01 unknown sender - no subject"),
    ("Ann", "e\u{301}x", -1, "000007 1969-12-31 Ann - e\u{301}x"), ("Ann", "x", .max, "000007 undated Ann - x"),
    ("Ann", "x", .min, "000007 undated Ann - x"), ("Ann", ".", 253_402_300_799, "000007 9999-12-31 Ann - ."),
    ("Ann", "x", 253_402_300_800, "000007 undated Ann - x"),
  ]

  @Test(arguments: names) func messageDirectoryNamesAreFormatted(
    _ fixture: (sender: String, subject: String, date: Int64?, name: String)
  ) {
    var row = MessageRow(separator: 0, start: 0, end: 0)
    (row.sender, row.subject, row.date) = (fixture.sender, fixture.subject, fixture.date)
    #expect(row.folderName(position: 7).text == fixture.name)
  }

  @Test(arguments: ["x", "ü", "日", "👩‍👩‍👧‍👦", "e\u{301}", "x\u{301}\u{302}\u{303}\u{304}", "a "])
  func longMessageNamesAreTruncated(
    _ piece: String
  ) {
    var row = MessageRow(separator: 0, start: 0, end: 0)
    for count in [0, 1, 10, 17, 30, 80, 300] {
      row.sender = String(repeating: piece, count: count)
      row.subject = row.sender
      let name = row.folderName(position: 1_234_567)
      let text = String(validating: name.bytes, as: UTF8.self)
      #expect(name.count <= 255)
      #expect((text ?? "").count <= 120 && text != nil && text?.last != " ")
      #expect(MessageRow.position(inFolderName: name) == 1_234_567)
    }
  }

  @Test func positionIsParsedFromDirectoryName() {
    #expect(MessageRow.position(inFolderName: "000001 x") == 1)
    #expect(MessageRow.position(inFolderName: "1234567 x") == 1_234_567)
    for name: FileName in ["00001 x", "000001", "0000001 x", "x", "", "9999999999999999999999 x", "000001x"] {
      #expect(MessageRow.position(inFolderName: name) == nil)
    }
  }

  static func random(_ numbers: inout SeededNumbers) -> MessageRow {
    let start = Int64(numbers.below(1 << 40))
    var row = MessageRow(
      separator: start, start: start + Int64(numbers.below(99)), end: start + 99 + Int64(numbers.below(1 << 30)))
    func text(_ most: Int) -> String { String(repeating: "aü", count: numbers.below(most)) }
    if numbers.below(2) == 0 { row.date = Int64(bitPattern: numbers.next()) }
    row.zone = numbers.below(1600) - 800
    (row.sender, row.address, row.subject) = (text(9), text(9), text(170))
    if numbers.below(2) == 0 { row.messageID = numbers.next() }
    if numbers.below(2) == 0 { row.thread = numbers.next() }
    row.references = (0..<numbers.below(5)).map { _ in numbers.next() }
    row.labels = (0..<numbers.below(5)).map { _ in text(9) }
    row.isDeleted = numbers.below(2) == 0
    return row
  }

  static func unpack(_ bytes: [UInt8], _ count: Int) throws(Fault) -> [MessageRow] {
    let span = unsafe bytes.span.bytes
    var reader = ByteReader(span)
    var rows: [MessageRow] = []
    for _ in 0..<count { rows.append(try MessageRow(reading: &reader)) }
    guard reader.remaining == 0 else { throw Fault(.damaged, "more than was packed") }
    return rows
  }

  @Test func packedRowsRoundTrip() throws {
    var numbers = SeededNumbers(seed: 3)
    let rows = (0..<200).map { _ in Self.random(&numbers) }
    var bytes: [UInt8] = []
    for row in rows { row.append(to: &bytes) }
    #expect(try Self.unpack(bytes, rows.count) == rows)
  }

  @Test func damagedPackedRowsAreRefused() throws {
    var numbers = SeededNumbers(seed: 4)
    for _ in 0..<40 {
      var bytes: [UInt8] = []
      Self.random(&numbers).append(to: &bytes)
      for bit in 0..<bytes.count * 8 {
        var damaged = bytes
        damaged[bit / 8] ^= 1 << UInt8(bit % 8)
        #expect(throws: Fault.self) { try Self.unpack(damaged, 1) }
      }
      for count in bytes.indices {
        #expect(throws: Fault.self) { try Self.unpack(Array(bytes[..<count]), 1) }
      }
      #expect(throws: Fault.self) { try Self.unpack(numbers.bytes(bytes.count), 1) }
    }
  }

  /// A malicious index record: its checksum is valid, its numbers are not.
  @Test(arguments: [
    (Int64(5), Int64(15), Int64.max, 0), (.max, .max, .max, 0), (5, 15, Bounds.largestSize + 1, 0), (5, 15, 20, .min),
    (5, 15, 20, .max), (5, 15, 20, 1 << 20 + 1), (5, 15, 10, 0), (-5, 15, 20, 0),
  ])
  func invalidPackedNumbersAreRefused(separator: Int64, start: Int64, end: Int64, zone: Int) {
    var row = MessageRow(separator: separator, start: start, end: end)
    row.date = .min
    row.zone = zone
    var bytes: [UInt8] = []
    row.append(to: &bytes)
    let span = unsafe bytes.span.bytes
    var reader = ByteReader(span)
    let fault = #expect(throws: Fault.self) { try MessageRow(reading: &reader) }
    #expect(fault?.kind == .damaged)
  }
}
