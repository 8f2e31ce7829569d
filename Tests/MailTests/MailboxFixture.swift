import Bytes
import Mail
import Testing

/// A mailbox and its contents.
struct MailboxFixture: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var bytes: [UInt8]
  /// The subjects of the messages, in order.
  var subjects: [String]

  init(_ testDescription: String, _ text: String, _ subjects: [String]) {
    self.testDescription = testDescription
    bytes = Array(text.utf8)
    self.subjects = subjects
  }

  static let line = "From a@example.com Mon Jan  1 00:00:00 2018\n"

  static func message(_ number: Int) -> String {
    """
    From: a@example.com
    Subject: m\(number)
    Date: Mon, 1 Jan 2018 00:00:00 +0000
    Message-ID: <t\(number)@x>

    body

    """
  }

  static let first = line + message(1)

  /// Two messages, with this line between them.
  static func separated(_ name: String, by separator: String, before: String = "\n") -> MailboxFixture {
    MailboxFixture(name, first + before + separator + "\n" + message(2), ["m1", "m2"])
  }

  /// Two messages, each after this line.
  static func alike(_ name: String, by separator: String, before: String = "\n") -> MailboxFixture {
    MailboxFixture(
      name, separator + "\n" + message(1) + before + separator + "\n" + message(2), ["m1", "m2"])
  }

  /// One message, whose body contains this.
  static func whole(_ name: String, _ rest: String) -> MailboxFixture { MailboxFixture(name, first + rest, ["m1"]) }

  static let two = first + "\n" + line + message(2)
}
