import Bytes
import TestSupport
import Testing

@testable import Mail

/// The checksum of each message, from its separator to its end.
@Suite struct MailboxSumTests {
  private static let line = MailboxFixture.line

  /// A message whose body has `size` bytes and a line that begins like a separator.
  private static func message(_ number: Int, body size: Int, fields: String = "") -> String {
    let prose = "From the \(number)th day on\n"
    let rest = (0..<size / 20).map { "line \(($0 &* 7919 &+ number) % 1_000_000_000)".padded(to: 19) + "\n" }
    return line + "From: a@example.com\nSubject: m\(number)\n" + fields + "\n" + prose + rest.joined() + "\n"
  }

  /// Small messages, and such as are longer than a window, which keeps 4 KiB and has at least 16 KiB at a head.
  private static let plain = [10, 200_000, 0, 30_000, 5000, 70_000, 40].enumerated().map { message($0, body: $1) }
    .joined()

  /// Messages whose end is declared: right behind a separator inside, at the mailbox's end, and wrongly.
  private static let declared: String = {
    func declaring(_ number: Int, _ size: Int, by extra: Int) -> String {
      let inner = line + "Subject: inside\n\n" + message(number, body: size)
      return line + "Subject: m\(number)\nContent-Length: \(inner.utf8.count + extra)\n\n" + inner + "\n"
    }
    return declaring(0, 60_000, by: 0) + message(1, body: 100) + declaring(2, 300, by: 0)
      + declaring(3, 40_000, by: 777) + message(4, body: 20_000) + declaring(5, 50_000, by: 1)
  }()

  /// An open multipart: whether a separator counts is found out up to 64 KiB behind it.
  private static let multipart: String = {
    let part = "--B\nContent-Type: message/rfc822\n\n"
    return line + "Subject: m0\nContent-Type: multipart/mixed; boundary=B\n\n" + part + message(1, body: 30_000) + part
      + message(2, body: 50_000) + "--B--\n\n" + message(3, body: 90_000) + message(4, body: 10)
  }()

  private static let lines = ["LF": "\n", "CRLF": "\r\n"]
  private static let texts = ["plain": plain, "declared": declared, "multipart": multipart]
  /// The number of messages in each.
  private static let counts = ["plain": 7, "declared": 8, "multipart": 3]

  private static func bytes(_ name: String, _ ending: String) throws -> [UInt8] {
    let text = try #require(texts[name])
    // The declared lengths count other line ends than these.
    if name == "declared" { return Array(text.utf8) }
    return Array(text.utf8.map { $0 == 0x0a ? Array((lines[ending] ?? "").utf8) : [$0] }.joined())
  }

  private func check(_ rows: [MessageRow], of bytes: [UInt8]) {
    for row in rows {
      let expected = ZipChecksum.crc32(Array(bytes[Int(row.separator)..<Int(row.end)]))
      #expect(row.sum == expected, "\(row.subject) from \(row.separator) to \(row.end)")
    }
  }

  @Test(arguments: texts.keys.sorted(), ["LF", "CRLF"]) func checksumCoversAllMessageBytes(
    _ name: String, _ ending: String
  ) throws {
    let bytes = try Self.bytes(name, ending)
    for size in [1, 64, 100, 512, 4096, nil] {
      let rows = try rows(bytes, readSize: size)
      #expect(rows.count == Self.counts[name], "\(rows.map(\.subject))")
      check(rows, of: bytes)
    }
  }

  @Test(arguments: texts.keys.sorted()) func checksumIsIndependentOfScanStart(_ name: String) throws {
    let bytes = try Self.bytes(name, "LF")
    let whole = try rows(bytes)
    for (number, row) in whole.enumerated() where row.separator > 0 {
      for size in [64, 511] {
        let rest = try rows(bytes, from: row.separator, readSize: size)
        #expect(rest.map(\.sum) == whole[number...].map(\.sum))
        check(rest, of: bytes)
      }
    }
  }

  @Test func bytesBeforeTheFirstSeparatorAreAMessage() throws {
    let bytes = Array(("junk\n\n" + Self.message(1, body: 30_000)).utf8)
    let rows = try rows(bytes, readSize: 64)
    #expect(rows.map(\.separator) == [0, 6])
    check(rows, of: bytes)
  }
}

extension String {
  fileprivate func padded(to count: Int) -> String {
    self + String(repeating: ".", count: Swift.max(0, count - utf8.count))
  }
}
