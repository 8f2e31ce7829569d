internal import Bytes
public import ContentReading
internal import Mail

/// The messages of a mailbox, one by one: `while let message = try messages.next() { … }`.
///
/// Memory is bounded whatever the size of the mailbox. Copies share one place in it. Not to be used by two threads at
/// once.
public struct MailboxMessages {
  private let content: Content
  private let scan: Scan

  /// A scanner cannot be copied.
  private final class Scan {
    var scanner: MailboxScanner

    init(_ source: any ByteSource) { scanner = MailboxScanner(source) }
  }

  init(of content: Content) {
    self.content = content
    scan = Scan(content.source)
  }

  /// The next message; nil after the last. Looks for the message's end; blocks. O(n) in the size of the message.
  ///
  /// - Throws: `ReadingError` if the mailbox cannot be read.
  public mutating func next() throws(ReadingError) -> MailMessage? {
    guard let row = try ReadingError.of({ () throws(Fault) in try scan.scanner.next() }) else { return nil }
    return MailMessage(
      try Content(ByteRange(of: content.source, start: row.start, size: row.size)), row, isQuoted: true)
  }
}
