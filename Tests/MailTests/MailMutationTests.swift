import Bytes
import Mail
import TestSupport
import Testing

@testable import Fuzzing

/// Mailboxes and `winmail.dat` with a few bytes changed: whatever the result, there is no crash, and reads are
/// consistent.
@Suite(.timeLimit(.minutes(10))) struct MailMutationTests {
  static let targets = ["mail", "tnef"]

  @Test(arguments: targets, 0..<4) func mutatedMailSeedsAreRead(_ name: String, batch: Int) throws {
    let target = try #require(FuzzTarget.named(name))
    let complaints = target.complaints(ofMutations: 150, seed: UInt64(batch))
    #expect(complaints.isEmpty, "batch \(batch): \(complaints)")
  }

  /// Truncated at every length.
  @Test(arguments: targets) func truncatedMailSeedsAreRead(_ name: String) throws {
    let target = try #require(FuzzTarget.named(name))
    for seed in target.seeds() {
      for count in 0...seed.count { #expect(target.complaints(Array(seed[..<count])).isEmpty, "\(count) bytes") }
    }
  }

  /// The seeds contain what they should; otherwise the loops would show little.
  @Test func mailSeedsContainExpectedContent() throws {
    func mail(_ target: FuzzTarget, _ seed: Int, _ head: String) throws -> OpenMail {
      try OpenMail(Array(head.utf8) + target.seeds()[seed])
    }
    let head = "Content-Type: application/ms-tnef; name=winmail.dat\n\n"
    let names = try mail(.tnef, 0, head).names
    #expect(names == ["winmail.dat", "long", "message.eml"])
    #expect(try mail(.tnef, 1, head).body == "\u{43f}\u{20ac}")
    #expect(try mail(.tnef, 2, head).originalHTML == "\u{feff}<p>\u{413}\u{a4}")
    var scanner = MailboxScanner(ByteArraySource(FuzzTarget.mail.seeds()[0]))
    let first = try #require(try scanner.next())
    #expect(first.subject == "Gr\u{fc}\u{df}e\u{e4}\u{f6}" && first.labels == ["Inbox", "a,b"])
    #expect(try scanner.next()?.subject == "files in text")
  }
}
