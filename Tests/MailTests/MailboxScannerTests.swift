import Bytes
import TestSupport
import Testing

@testable import Mail

/// All rows from an offset on, scanned with a read size.
func rows(_ bytes: [UInt8], from offset: Int64 = 0, readSize: Int? = nil) throws -> [MessageRow] {
  try rows(ByteArraySource(bytes), from: offset, readSize: readSize)
}

func rows(_ source: any ByteSource, from offset: Int64 = 0, readSize: Int? = nil) throws -> [MessageRow] {
  var scanner =
    readSize.map { MailboxScanner(source, from: offset, readSize: $0) } ?? MailboxScanner(source, from: offset)
  var rows: [MessageRow] = []
  while let row = try scanner.next() { rows.append(row) }
  return rows
}

@Suite struct MailboxScannerTests {
  /// The 28 files of ../shared/corpus/mail/traps, in order, with their numbers of messages.
  static let traps: [MailboxFixture] = [
    .separated("asctime", by: "From a@example.com Mon Jan  1 00:00:00 2018"),
    .separated("zone after the year", by: "From a@example.com Mon Jan  1 00:00:00 2018 +0100"),
    .separated("Takeout", by: "From 1234567890123456789@xxx Mon Jan 01 00:00:00 +0000 2018"),
    .separated("Thunderbird", by: "From - Mon Jan  1 00:00:00 2018"),
    .separated("bare From", by: "From "),
    .separated("bare From -", by: "From - "),
    .separated("Eudora", by: "From ???@??? Mon Jan 01 00:00:00 2018"),
    .separated("pipermail", by: "From me at x.org  Mon Jan  1 00:00:00 2018"),
    .separated("RFC 5322 date", by: "From a@example.com Mon, 1 Jan 2018 00:00:00 +0000"),
    .separated("localized weekday", by: "From a@example.com Mo Jan  1 00:00:00 2018"),
    .separated("no seconds", by: "From a@example.com Mon Jan  1 00:00 2018"),
    .separated("sender with spaces", by: "From John Doe <a@example.com> Mon Jan  1 00:00:00 2018"),
    .separated("no empty line before", by: "From a@example.com Mon Jan  1 00:00:00 2018", before: ""),
    .whole("prose behind an empty line", "\nFrom the beginning we knew\ncontinued body text\nmore\n"),
    .whole("prose in a paragraph", "From the beginning we knew\ncontinued body text\nmore\n"),
    .whole("prose, then a field", "\nFrom the desk of\nAgenda: things\n\nx\ncontinued body text\nmore\n"),
    .whole("a separator that prose follows", "\n" + MailboxFixture.line + "continued body text\nmore\n"),
    .whole(
      "a patch of Git",
      "\nFrom 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001\n" + MailboxFixture.message(2)),
    .whole("quoted", "\n>" + MailboxFixture.line + MailboxFixture.message(2)),
    MailboxFixture(
      "in an open multipart",
      MailboxFixture.line + "From: a@x\nSubject: m1\nContent-Type: multipart/mixed; boundary=B\n\n--B\n"
        + "Content-Type: message/rfc822\n\nFrom: b@x\n\ninner\n\n" + MailboxFixture.line + MailboxFixture.message(9)
        + "--B--\n", ["m1"]),
    MailboxFixture(
      "Content-Length hides a separator",
      MailboxFixture.line + "From: a@x\nSubject: m1\nContent-Length: 141\n\nx\n\n" + MailboxFixture.line
        + MailboxFixture.message(9) + "\n" + MailboxFixture.line + MailboxFixture.message(2), ["m1", "m2"]),
    MailboxFixture(
      "Content-Length is too long",
      MailboxFixture.line + "From: a@x\nSubject: m1\nContent-Length: 99999\n\nbody\n\n" + MailboxFixture.line
        + MailboxFixture.message(2), ["m1", "m2"]),
    MailboxFixture(
      "CRLF", MailboxFixture.two.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n"),
      ["m1", "m2"]),
    MailboxFixture("CR", String(MailboxFixture.two.map { $0 == "\n" ? "\r" : $0 }), ["m1", "m2"]),
    MailboxFixture("byte order mark", "\u{feff}" + MailboxFixture.two, ["m1", "m2"]),
    MailboxFixture("empty lines first", "\n\n" + MailboxFixture.two, ["m1", "m2"]),
    MailboxFixture("junk first", "junk line\n" + MailboxFixture.two, ["", "m1", "m2"]),
    MailboxFixture(
      "a message without a separator first", MailboxFixture.message(0) + "\n" + MailboxFixture.two, ["m0", "m1", "m2"]),
    MailboxFixture(
      "a byte order mark and a message without a separator",
      "\u{feff}" + MailboxFixture.message(0) + MailboxFixture.two, ["m0", "m1", "m2"]),
    MailboxFixture("no header first", MailboxFixture.line + "\nbody only\n\n" + MailboxFixture.two, ["", "m1", "m2"]),
    MailboxFixture(
      "neither a header nor an empty line first", MailboxFixture.line + "body only\n\n" + MailboxFixture.two,
      ["", "m1", "m2"]),
    MailboxFixture("no header at all", MailboxFixture.line + "\nbody only\n", [""]),
    MailboxFixture("no final newline", String(MailboxFixture.two.dropLast()), ["m1", "m2"]),
  ]

  static let others: [MailboxFixture] = [
    MailboxFixture("nothing", "", []),
    MailboxFixture("no separator", "Subject: x\n\nbody\nFrom here on\n", []),
    MailboxFixture("empty messages", String(repeating: MailboxFixture.line + "\n", count: 3), ["", "", ""]),
    MailboxFixture(
      "a line in the place of the first field", MailboxFixture.line + ">From x\n" + MailboxFixture.message(1), ["m1"]),
    MailboxFixture(
      "a header without an end",
      MailboxFixture.line + "Subject: m1\n" + MailboxFixture.line + MailboxFixture.message(2),
      ["m1", "m2"]),
    MailboxFixture(
      "a series of patches",
      "From 0123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001\n" + MailboxFixture.message(1)
        + "\nFrom 1123456789abcdef0123456789abcdef01234567 Mon Sep 17 00:00:00 2001\n" + MailboxFixture.message(2),
      ["m1", "m2"]),
    MailboxFixture(
      "an open multipart, and another message",
      MailboxFixture.line + "From: a@x\nSubject: m1\nContent-Type: multipart/mixed; boundary=\"B\"\n\n--B\n\ncut\n\n"
        + MailboxFixture.line + "Subject: m2\nContent-Type: multipart/mixed; boundary=\"B\"\n\n--B\n\nx\n--B--\n",
      ["m1", "m2"]),
    MailboxFixture(
      "a closed multipart, and its delimiter again",
      MailboxFixture.line + "Subject: m1\nContent-Type: multipart/mixed; boundary=B\n\n--B\n\nx\n--B--\nfoot\n\n"
        + MailboxFixture.line + "Subject: m2\n\n--B\n--B--\n", ["m1", "m2"]),
    MailboxFixture(
      "Content-Length leads to a bare line", "From - \nSubject: m1\nContent-Length: 2\n\nx\nFrom \nSubject: m2\n\n",
      ["m1", "m2"]),
    .separated("uucp", by: "From joe Mon Jan  1 00:00:00 2018 remote from host"),
    .separated("German month and zone", by: "From a@x Do Okt  1 00:00:00 MESZ 2018"),
    .separated("12 hours", by: "From a@x Mon Jan  1 00:00:00 PM 2018"),
    .separated("named zone of two words", by: "From a@x Mon Jan  1 00:00:00 MET DST 2018"),
    .separated("ISO 8601", by: "From a@x 2018-01-01T00:00:00+01:00"),
    .separated("numbers, month first", by: "From a@x 05/06/2024 10:00:00 AM"),
    .separated("numbers, day first, no empty line before", by: "From a@x 6.5.2024 10:00", before: ""),
    .separated("dots in the time", by: "From a@x Mon May  6 10.00.00 2024"),
    .alike("no date", by: "From 1844347792267117879@xxx"),
    .alike("no date, no empty line before", by: "From 1844347792267117879@xxx", before: ""),
    .alike("no date of a daemon", by: "From MAILER-DAEMON", before: ""),
    .alike("bare, no empty line before", by: "From - ", before: ""),
    .whole("an address in a mailbox that has dates", "\nFrom a@x\nSubject: no\n\nmore\n"),
    .whole("the hours of a meeting", "\nFrom 05/06/2024 10:00 AM\nTo: 05/06/2024 11:00 AM\n"),
    .whole("a version", "\nFrom version 6 May 10.2 2024\nSubject: no\n"),
    .whole("prose with a date", "\nFrom Bob, on May 5 10:30 2018 we knew\nthat: x\n"),
    .whole("a bare line in a paragraph", "From \nAgenda: x\n"),
  ]

  static let all = traps + others

  @Test(arguments: all) func findsMessages(_ fixture: MailboxFixture) throws {
    let rows = try rows(fixture.bytes)
    #expect(rows.map(\.subject) == fixture.subjects)
  }

  /// Separator lines and messages are contiguous and cover the mailbox, except for a byte order mark and empty lines.
  @Test(arguments: all) func messagesCoverTheWholeMailbox(_ fixture: MailboxFixture) throws {
    var rows = try rows(fixture.bytes)
    if let first = rows.first {
      #expect(fixture.bytes[..<Int(first.separator)].allSatisfy { [0xef, 0xbb, 0xbf, 0x0a, 0x0d].contains($0) })
      if first.start == first.separator {
        #expect(first.start == 0 && first.end > 0)
        rows.removeFirst()
      }
    }
    for (row, next) in zip(rows, rows.dropFirst()) { #expect(row.end == next.separator) }
    if let last = rows.last { #expect(last.end == Int64(fixture.bytes.count)) }
    for row in rows {
      #expect(row.separator < row.start && row.start <= row.end)
      #expect(fixture.bytes[Int(row.separator)...].starts(with: Array("From ".utf8)))
      #expect([0x0a, 0x0d].contains(fixture.bytes[Int(row.start) - 1]))
    }
  }

  @Test(arguments: all) func scanIsIndependentOfReadSize(_ fixture: MailboxFixture) throws {
    let whole = try rows(fixture.bytes)
    for size in Array(1...70) + [127, 128, 129, 255, 256, 1000] {
      #expect(try rows(fixture.bytes, readSize: size) == whole)
    }
  }

  @Test(arguments: all) func scanCanStartAtEachSeparator(_ fixture: MailboxFixture) throws {
    let whole = try rows(fixture.bytes)
    for (index, row) in whole.enumerated() where row.separator > 0 {
      #expect(try rows(fixture.bytes, from: row.separator) == Array(whole[index...]))
    }
  }

  @Test func scanRefusesOtherStartOffsets() {
    let bytes = Array(MailboxFixture.two.utf8)
    #expect(throws: Fault.self) { try rows(bytes, from: 7) }
  }

  /// A separator at each offset around the edge of a window, after a body of many lines.
  @Test func findsSeparatorsAtEdgesOfWindows() throws {
    let head = MailboxFixture.line + "Subject: m1\n\n"
    for length in (192 << 10) - 150..<(192 << 10) + 40 {
      let body =
        String(repeating: "Frobnicate From the\n", count: length / 20) + String(repeating: "x", count: length % 20)
      let bytes = Array((head + body + "\n" + MailboxFixture.line + MailboxFixture.message(2)).utf8)
      #expect(try rows(bytes).map(\.separator) == [0, Int64(head.utf8.count + length + 1)])
    }
  }

  @Test func storedFieldsAreBounded() throws {
    let line = [UInt8](repeating: 0x78, count: 8 << 20)
    let long = Array((MailboxFixture.line + "Subject: ").utf8) + line + Array("\n\nbody\n\n".utf8)
    let bytes = long + Array((MailboxFixture.line + MailboxFixture.message(2)).utf8)
    let rows = try rows(bytes)
    #expect(rows.count == 2)
    #expect(rows[0].subject.utf8.count == MessageRow.textLimit)
    #expect(rows[0].end == Int64(long.count))
  }

  @Test func damageAffectsNoOtherMessage() throws {
    var numbers = SeededNumbers(seed: 7)
    let texts = Self.all.map(\.bytes).filter { $0.starts(with: Array("From ".utf8)) }
    var archive: [UInt8] = []
    for _ in 0..<40 {
      archive += texts[numbers.below(3)] + [0x0a]
    }
    let whole = try rows(archive)
    #expect(whole.count > 60)
    for _ in 0..<1000 {
      let cut = numbers.below(archive.count)
      let rest = try rows(Array(archive[..<cut]))
      // All except the last message before the cut are unchanged.
      let before = whole.prefix { $0.end + Int64(SeparatorLine.limit) / 8 <= Int64(cut) }
      #expect(Array(rest.prefix(before.count)) == Array(before))
    }
    for _ in 0..<1000 {
      var damaged = archive
      let place = numbers.below(damaged.count)
      for offset in 0..<(1 + numbers.below(100)) where place + offset < damaged.count {
        damaged[place + offset] = UInt8(truncatingIfNeeded: numbers.next())
      }
      let found = try rows(damaged)
      let before = whole.prefix { $0.end + Int64(SeparatorLine.limit) / 8 <= Int64(place) }
      #expect(Array(found.prefix(before.count)) == Array(before))
    }
  }

  @Test func faultsOfTheSourceAreThrown() throws {
    let bytes = Array(MailboxFixture.two.utf8)
    var scanner = MailboxScanner(FaultySource(bytes, from: 250), from: 0, readSize: 32)
    #expect(throws: Fault.self) {
      while let row = try scanner.next() { #expect(row.subject == "m1") }
    }
  }

  static let recognized: [(text: String, isMailbox: Bool, isMessage: Bool)] = [
    ("From 1844347792267117879@xxx\nMIME-Version: 1.0\n", true, false), ("From me\nTo: you\n", false, false),
    ("From a@x 05/06/2024 10:00:00 AM\nFrom: a@x\n", true, false), ("From a@x\nAgenda: x\n", false, false),
    (MailboxFixture.two, true, false), ("\u{feff}" + MailboxFixture.two, true, false),
    ("\n\n" + MailboxFixture.two, true, false), ("junk line\n" + MailboxFixture.two, true, false),
    ("From \nFrom: a@x\n\nx\n", true, false), ("From - \nX-Mozilla-Status: 0001\n", true, false),
    (MailboxFixture.message(1), false, true), ("Received: x\n\tby y\nX: 1\nDate: z\n\nbody", false, true),
    ("#include <stdio.h>\nint main(void) { return 0; }\n", false, false),
    ("2018-01-01 00:00:00 INFO started: yes\n2018-01-01 00:00:01 INFO From: here\n", false, false),
    ("From,To,Date\na,b,c\n", false, false), ("From here on, all: is well\nand: so on\n", false, false),
    ("<html>\n<head>\n<title>From: x</title>\n", false, false), ("From \nsome: thing\n", false, false),
    ("name: x\nversion: 1\nfrom: y\n", false, false), ("", false, false),
  ]

  @Test(arguments: recognized) func mailboxesAndMessagesAreRecognized(
    _ head: (text: String, isMailbox: Bool, isMessage: Bool)
  ) {
    let bytes = Array(head.text.utf8)
    #expect(MailboxScanner.isMailbox(startingWith: bytes[...]) == head.isMailbox)
    #expect(Header.looksLikeMessage(startingWith: bytes[...]) == head.isMessage)
  }
}

/// Bytes whose reads fail from an offset on.
private final class FaultySource: ByteSource {
  private let bytes: [UInt8]
  private let limit: Int64
  var size: Int64 { Int64(bytes.count) }

  init(_ bytes: [UInt8], from limit: Int64) {
    self.bytes = bytes
    self.limit = limit
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    guard offset + Int64(buffer.count) <= limit else { throw Fault(.system(5), "cannot be read") }
    return try unsafe ByteArraySource(bytes).read(into: buffer, at: offset, blocking)
  }
}
