import Foundation
import MailReading
import Testing

/// The product for mail, as its tutorial uses it, beside Python's `mailbox` and `email`.
struct MailboxTests {
  @Test func listsMessages() throws {
    try MadeFiles.with { made in
      var lines: [String] = []
      try ReadAMailbox.list(made.mailbox) { lines.append($0) }
      #expect(lines == made.mails.map { "\($0.date) \($0.address): \($0.subject)" })
      var messages = try Mailbox(at: made.mailbox).messages()
      for mail in made.mails { #expect(try messages.next()?.from?.name ?? "" == mail.name) }
      #expect(try messages.next() == nil)
    }
  }

  @Test func readsText() throws {
    try MadeFiles.with { made in
      var messages = try Mailbox(at: made.mailbox).messages()
      for mail in made.mails {
        let message = try #require(try messages.next())
        var lines: [String] = []
        try ReadAMailbox.read(message) { lines.append($0) }
        #expect(lines.dropLast() == mail.to[...])
        #expect(lines.last?.trimmingCharacters(in: .newlines) == mail.text.trimmingCharacters(in: .newlines))
        #expect(try message.damage() == nil)
      }
    }
  }

  @Test func decodesAttachments() throws {
    try MadeFiles.with { made in
      var messages = try Mailbox(at: made.mailbox).messages()
      for mail in made.mails {
        let message = try #require(try messages.next())
        var saved: [String: [UInt8]] = [:]
        try ReadAMailbox.saveAttachments(of: message) { saved[$0] = $1 }
        #expect(saved == Dictionary(uniqueKeysWithValues: mail.attachments.map { ($0.name, $0.bytes) }))
        for (attachment, expected) in zip(try message.attachments(), mail.attachments) {
          #expect(attachment.contentType == expected.type)
          var copied: [UInt8] = []
          try ReadAMailbox.copy(attachment) { copied += $0 }
          #expect(copied == expected.bytes)
          #expect(throws: ReadingError.self) { try attachment.bytes(limit: expected.bytes.count - 1) }
        }
      }
      let largest = try #require(try ReadAMailbox.largest(made.mailbox))
      let expected = try #require(made.mails.flatMap(\.attachments).max { $0.bytes.count < $1.bytes.count })
      #expect(largest == (expected.name, Int64(expected.bytes.count)))
    }
  }

  @Test func opensSingleMessages() throws {
    try MadeFiles.with { made in
      var lines: [String] = []
      try ReadAMailbox.open(made.message) { lines.append($0) }
      #expect(lines == [made.mails[1].subject])
      lines = []
      try ReadAMailbox.open("\(made.folder)/none.eml") { lines.append($0) }
      #expect(lines.count == 1 && lines[0].hasPrefix("Cannot open it: "))
    }
  }

  @Test func filesThatAreNotMailboxesAreRefused() throws {
    try MadeFiles.with { made in
      let codes = [made.archive, made.message, made.folder, "\(made.folder)/none"].map { path in
        code { try Mailbox(at: path) }
      }
      #expect(codes == [.unsupported, .unsupported, .unsupported, .system])
    }
    var none = try Mailbox(Content([])).messages()
    #expect(try none.next() == nil)
  }

  @Test func readsSanitizedHTML() throws {
    let text = "Subject: x\nContent-Type: text/html\n\n<p onclick=\"a()\">Hi<script>b()</script></p>\n"
    let message = try MailMessage(Content(Array(text.utf8)))
    let html = try #require(try message.html())
    #expect(html.contains("Hi") && !html.contains("script") && !html.contains("onclick"))
    #expect(try message.text().trimmingCharacters(in: .newlines) == "Hi")
    #expect(try message.fields().map(\.name) == ["Subject", "Content-Type"])
    #expect(try message.values(of: "sUBJECT") == ["x"])
    #expect(message.from == nil && message.date == nil)
    #expect(throws: ReadingError.self) { try message.text(limit: 1) }
  }
}
