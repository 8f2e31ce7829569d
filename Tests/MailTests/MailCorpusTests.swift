import Bytes
import Foundation
import TestSupport
import Testing

@testable import Mail

/// The messages of other parsers' test suites, as files and in mailboxes.
@Suite(.enabled("needs the corpus beside the project") { sharedCorpus != nil }) struct MailCorpusTests {
  private static let folder = sharedCorpus?.appendingPathComponent("mail").path ?? ""

  /// Paths in the corpus, by the naming of each suite.
  private static let paths: [String] = {
    let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
    return names.sorted().filter { path in
      let name = path.split(separator: "/").last ?? ""
      return path.hasPrefix("stalwart/") && name.hasSuffix(".eml")
        || path.hasPrefix("mime4j/") && name.hasSuffix(".msg")
        || path.hasPrefix("enmime/") && name.hasSuffix(".raw")
        || path.hasPrefix("cpython/") && name.hasPrefix("msg_")
        || path.hasPrefix("zbateson/emails/") && name.hasSuffix(".txt") && !path.contains("/files/")
    }
  }()

  private static func bytes(_ path: String) throws -> [UInt8] {
    try Array(Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(path)")))
  }

  /// The parsed message, for `Tests/Scripts/compare_mail.py`.
  private static func record(_ mail: OpenMail, _ path: String) throws -> Data {
    var record: [String: Any] = ["path": path, "body": Data(try mail.body.utf8).base64EncodedString()]
    if let html = try mail.originalHTML { record["html"] = Data(html.utf8).base64EncodedString() }
    record["attachments"] = try mail.message.attachments.map { attachment in
      let bytes = try mail.bytes(mail.message.open(attachment))
      return ["name": attachment.name.text, "data": Data(bytes).base64EncodedString()]
    }
    return try JSONSerialization.data(withJSONObject: record, options: [.sortedKeys]) + [0x0a]
  }

  /// The differences from the suites' expectations and from Python's email are the known ones, explained in
  /// `OddMail.md`.
  @Test(.timeLimit(.minutes(5))) func corpusDifferencesAreTheDocumentedOnes() async throws {
    #expect(Self.paths.count > 260)
    try await withScratch { scratch in
      var lines = Data()
      for path in Self.paths { lines += try Self.record(OpenMail(Self.bytes(path)), path) }
      let dump = scratch.path + "/dump"
      try lines.write(to: URL(fileURLWithPath: dump))
      try await script(
        "compare_mail.py", dump, Self.folder, MountScratch.package + "/Tests/Fixtures/odd-mail.txt",
        MountScratch.package + "/Sources/Programs/ffmount/ffmount.docc/OddMail.md")
    }
  }

  /// At the start of a mailbox, with mboxrd quoting, each gives the same result as by itself.
  @Test func messagesAreTheSameInMailboxes() throws {
    let separator = Array("From a@example.com Fri May  3 10:00:00 2024\n".utf8)
    let next = separator + Array("From: a@example.com\n\nthe next\n".utf8)
    var odd: [String] = []
    for path in Self.paths {
      let bytes = try Self.bytes(path)
      let source = ByteArraySource(separator + Self.quoted(bytes) + [0x0a] + next)
      let rows = try rows(source)
      #expect(rows.count == 2, "\(path)")
      guard rows.count == 2 else { continue }
      let further = ByteArraySource(next + [0x0a] + separator + Self.quoted(bytes) + [0x0a] + next)
      if try MailTests.rows(further).count != 3 { odd.append(path) }
      let message = try OpenMail(source.bytes(at: rows[0].start, count: Int(rows[0].size)), isQuoted: true)
      let alone = try OpenMail(bytes + [0x0a])
      #expect(try Self.record(message, path) == Self.record(alone, path), "\(path)")
    }
    // These start with a line that is not a field, so that the line before it is not a separator further on.
    let headless = [
      "cpython/msg_19.txt", "enmime/low-quality/bad-header-start.raw", "enmime/mail/erroneous.raw",
      "mime4j/testmsgs/malformedHeader-noheader.msg", "mime4j/testmsgs/malformedHeaderStartsBody-noheader.msg",
    ]
    #expect(odd == headless)
  }

  private static func quoted(_ bytes: [UInt8]) -> [UInt8] {
    bytes.split(separator: 0x0a, omittingEmptySubsequences: false).map { line in
      line.drop { $0 == 0x3e }.starts(with: "From ".utf8) ? [0x3e] + line : Array(line)
    }.joined(separator: [0x0a]).map { $0 }
  }
}
