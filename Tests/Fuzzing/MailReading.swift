internal import Bytes
internal import Mail
internal import TestSupport

/// Reads everything in a mailbox or a message, within a budget, and records violated invariants.
struct MailReading {
  private(set) var complaints: [String] = []
  /// The remaining budget of bytes to read, and of messages to parse.
  private var bytesLeft = 24 << 20
  private var messagesLeft = 200

  private static let deepest = 3

  private mutating func check(_ isSo: Bool, _ complaint: @autoclosure () -> String) {
    if !isSo, complaints.count < 20 { complaints.append(complaint()) }
  }

  /// Reads the bytes as a mailbox.
  mutating func readMailbox(_ source: any ByteSource) {
    guard let rows = rows(source, from: 0) else { return check(false, "a scan of bytes in memory fails") }
    var end: Int64 = 0
    for (position, row) in rows.enumerated() {
      check(
        // Only bytes before the first separator are a message without one.
        row.separator >= end && (row.start > row.separator || position == 0 && row.start == row.separator)
          && row.end >= row.start && row.end <= source.size,
        "message \(position) lies at \(row.separator), \(row.start), \(row.end), behind \(end)")
      check(position == 0 || row.separator == end, "there is something before message \(position)")
      end = row.end
      let name = row.folderName(position: position + 1)
      check(isSafe(name), "message \(position) has the name \(Array(name.bytes))")
      check(MessageRow.position(inFolderName: name) == position + 1, "message \(position) is not found by its name")
      check(isKept(row), "message \(position) is another when it is kept")
    }
    check(rows.isEmpty || end == source.size, "the last message ends at \(end) of \(source.size)")
    // As when an index is continued.
    if rows.count > 1 {
      let middle = rows.count / 2
      check(
        self.rows(source, from: rows[middle].separator) ?? [] == Array(rows[middle...]),
        "a scan from message \(middle) finds others")
    }
    for row in rows {
      readMessage(ByteRange(of: source, start: row.start, size: max(0, row.size)), isQuoted: true, depth: 0)
    }
  }

  private func rows(_ source: any ByteSource, from offset: Int64) -> [MessageRow]? {
    var scanner = MailboxScanner(source, from: offset)
    var rows: [MessageRow] = []
    do throws(Fault) { while let row = try scanner.next() { rows.append(row) } } catch { return nil }
    return rows
  }

  private func isKept(_ row: MessageRow) -> Bool {
    var bytes: [UInt8] = []
    row.append(to: &bytes)
    let span = unsafe bytes.span.bytes
    var reader = ByteReader(span)
    let again = try? MessageRow(reading: &reader)
    return again == row && reader.remaining == 0
  }

  private func isSafe(_ name: FileName) -> Bool {
    let bytes = Array(name.bytes)
    return !bytes.isEmpty && bytes.count <= 255 && !bytes.contains { $0 < 0x20 || $0 == 0x2f || $0 == 0x7f }
      && bytes != [0x2e] && bytes != [0x2e, 0x2e] && String(validating: bytes, as: UTF8.self) != nil
  }

  /// Reads the bytes as one message.
  mutating func readMessage(_ source: any ByteSource, isQuoted: Bool, depth: Int) {
    guard messagesLeft > 0, bytesLeft > 0 else { return }
    messagesLeft -= 1
    do throws(Fault) {
      let message = try Message(reading: source, isQuoted: isQuoted)
      let header = try message.headersText()
      check(String(validating: header, as: UTF8.self) != nil, "the header is no UTF-8")
      _ = try message.date()
      for body in [message.body, message.html] {
        guard let body, let text = read(try message.open(body), "the body") else { continue }
        check(String(validating: text, as: UTF8.self) != nil, "the body is no UTF-8")
      }
      var names: Set<FileName> = []
      for (number, attachment) in message.attachments.enumerated() {
        check(isSafe(attachment.name), "an attachment has the name \(Array(attachment.name.bytes))")
        check(names.insert(attachment.name).inserted, "two attachments have the name \(attachment.name.text)")
        check(message.attachment(named: attachment.name) == number, "\(attachment.name.text) is not found by its name")
        guard bytesLeft > 0 else { return }
        let file = try message.open(attachment)
        _ = read(file, attachment.name.text)
        if attachment.isMessage, depth < Self.deepest { readMessage(file, isQuoted: false, depth: depth + 1) }
      }
    } catch { check(false, "a message in memory cannot be read: \(error)") }
  }

  /// Reads front to back and at some offsets; nil if it cannot be read.
  private mutating func read(_ source: any ByteSource, _ name: String) -> [UInt8]? {
    let (whole, found) = source.readAtOffsets(name)
    for complaint in found { check(false, complaint) }
    bytesLeft -= whole?.count ?? 0
    return whole
  }
}
