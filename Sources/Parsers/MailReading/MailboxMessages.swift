internal import Bytes
public import ContentReading
internal import Mail

/// The messages of a mailbox, one by one: `while let message = try messages.next() { … }`.
///
/// Memory is bounded for any size of the mailbox. Copies share one position in it. Not safe to use from two threads at
/// once.
public struct MailboxMessages {
  private let content: Content
  private let scan: Scan

  /// A shared scanner, which cannot be copied.
  private final class Scan {
    var scanner: MailboxScanner

    init(_ source: any ByteSource) { scanner = MailboxScanner(source) }
  }

  init(of content: Content) {
    self.content = content
    scan = Scan(content.source)
  }

  /// Returns the next message. Returns `nil` after the last. Searches for the message's end. Blocks. O(n) in the size
  /// of the message.
  ///
  /// - Throws: `ReadingError` if the mailbox cannot be read.
  public mutating func next() throws(ReadingError) -> MailMessage? {
    guard let row = try ReadingError.of({ () throws(Fault) in try scan.scanner.next() }) else { return nil }
    return MailMessage(
      try Content(ByteRange(of: content.source, start: row.start, size: row.size)), row, isQuoted: true)
  }
}
