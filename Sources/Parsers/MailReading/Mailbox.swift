internal import Bytes
@_exported public import ContentReading
internal import Mail

/// A mailbox in one file: mbox in any of its variants, with messages one after the other.
///
/// Safe to use from several threads at once.
public struct Mailbox: Sendable {
  private let content: Content

  /// Opens the mailbox in a file. Reads its first 4 KiB. Blocks.
  ///
  /// - Parameter path: The path of the file, as for `Content.init(at:)`.
  /// - Throws: `ReadingError` if the file cannot be read, with `ReadingError.Code.unsupported` if it is neither empty
  ///   nor a mailbox. Use ``MailMessage/init(at:)`` for a file that is one message.
  public init(at path: String) throws(ReadingError) { try self.init(Content(at: path)) }

  /// Opens the mailbox in other bytes. Reads the first 4 KiB. Blocks.
  ///
  /// - Parameter content: The bytes of the mailbox.
  /// - Throws: `ReadingError` if the bytes cannot be read or are not a mailbox.
  public init(_ content: Content) throws(ReadingError) {
    let head = try content.bytes(in: 0..<4096)
    guard head.isEmpty || MailboxScanner.isMailbox(startingWith: head[...]) else {
      throw ReadingError(.unsupported, "expected a mailbox, which starts with a line `From `")
    }
    self.content = content
  }

  /// Returns the messages from the first to the last. Reads nothing yet. Each call starts again.
  public func messages() -> MailboxMessages { MailboxMessages(of: content) }
}
