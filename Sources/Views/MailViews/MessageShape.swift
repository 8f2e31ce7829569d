internal import Mail
internal import Tree

/// The optional items that a message's directory has: `body.html` and `attachments`.
struct MessageShape: OptionSet, Sendable {
  let rawValue: UInt8

  static let html = MessageShape(rawValue: 1)
  static let attachments = MessageShape(rawValue: 2)

  init(rawValue: UInt8) { self.rawValue = rawValue }

  init(of message: Message) {
    self = []
    if message.html != nil { insert(.html) }
    if !message.attachments.isEmpty { insert(.attachments) }
  }
}
