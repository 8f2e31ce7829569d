import MailReading

/// What the article ReadAMailbox quotes, step by step.
enum ReadAMailbox {
  static func list(_ path: String, print: (String) -> Void) throws {
    let mailbox = try Mailbox(at: path)
    var messages = mailbox.messages()
    while let message = try messages.next() {
      print("\(message.date ?? 0) \(message.from?.address ?? "nobody"): \(message.subject)")
    }
  }

  static func read(_ message: MailMessage, print: (String) -> Void) throws {
    for recipient in try message.values(of: "To") { print(recipient) }
    print(try message.text())
  }

  static func saveAttachments(of message: MailMessage, save: (String, [UInt8]) throws -> Void) throws {
    for attachment in try message.attachments() {
      try save(attachment.name, attachment.bytes())
    }
  }

  static func largest(_ path: String) throws -> (name: String, size: Int64)? {
    var largest: (name: String, size: Int64)?
    var messages = try Mailbox(at: path).messages()
    while let message = try messages.next() {
      for attachment in try message.attachments() {
        let size = try attachment.content().size
        if size > largest?.size ?? -1 { largest = (attachment.name, size) }
      }
    }
    return largest
  }

  static func copy(_ attachment: MailAttachment, write: ([UInt8]) throws -> Void) throws {
    var chunks = try attachment.content().chunks()
    while let chunk = try chunks.next() { try write(chunk) }
  }

  static func open(_ path: String, print: (String) -> Void) throws {
    do {
      let message = try MailMessage(at: path)
      for attachment in try message.attachments() where attachment.isMessage {
        print(try attachment.message().subject)
      }
    } catch {
      guard error.code == .system else { throw error }
      print("Cannot open it: \(error.reason)")
    }
  }
}
