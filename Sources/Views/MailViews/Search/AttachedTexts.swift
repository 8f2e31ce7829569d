package import Bytes
internal import Index
internal import Mail
internal import Tree

/// What reads the files that are attached to messages, for an index that has their words, too.
package struct AttachedTexts: Sendable {
  /// How much of them is read.
  package enum Extent: UInt8, CaseIterable, Sendable {
    /// The text that they have.
    case text = 1
    /// That, and the text that is to be seen in pictures.
    case recognition = 2

    /// In the order in which searches prefer them.
    static let best = allCases.sorted { $0.rawValue > $1.rawValue }

    /// Of the index of a mailbox with such words, which has this source without them.
    func source(_ plain: [UInt8]) -> [UInt8] { plain + [rawValue] }
  }

  let extent: Extent
  /// The text of all files in the folder `attachments` of a message's folder, in UTF-8; what cannot be read is left out.
  let text: @Sendable (_ message: FileName, _ mailbox: String) throws(Fault) -> [UInt8]

  /// - Parameter text: gets the name of the message's folder, and the path of the mailbox, whose views have it.
  package init(
    _ extent: Extent, text: @escaping @Sendable (_ message: FileName, _ mailbox: String) throws(Fault) -> [UInt8]
  ) {
    self.extent = extent
    self.text = text
  }
}

extension Indexing {
  /// Calls `body` with the name of the folder of each message that has files attached. Blocks until all messages have been
  /// found, and rethrows what `body` throws.
  package func forEachMessageWithFiles(
    of search: Search, _ body: (FileName) throws(Fault) -> Void
  ) throws(Fault) {
    let mailbox = search.mailbox
    let count = try mailbox.count(.blocking)
    var position = 0
    while position < count {
      let (block, start) = position.quotientAndRemainder(dividingBy: MailboxDirectory.blockSize)
      let rows = try mailbox.rows(ofBlock: block, .blocking).dropFirst(start)
      if rows.isEmpty { return }
      for row in rows {
        let message = try mailbox.messageIfReadable(row, at: position)
        position += 1
        guard let message, !message.attachments.isEmpty else { continue }
        try body(row.folderName(position: position))
      }
    }
  }
}

extension MessageSource {
  /// The words of a message, with those of `attached`; none if the file is damaged there, or the message has gone. Blocks.
  func text(of numbered: NumberedMessage, attached: AttachedTexts?) throws(Fault) -> IndexedText {
    guard let position = numbered.position, let message = try messageIfReadable(numbered.row, at: position) else {
      return IndexedText(Message.Words())
    }
    do throws(Fault) {
      var words = try message.words()
      if let attached, !message.attachments.isEmpty {
        words.body += try [0x0a] + attached.text(numbered.row.folderName(position: position + 1), file.path)
      }
      return IndexedText(words)
    } catch {
      guard error.concernsContent, error.kind != .changed else { throw error }
      return IndexedText(Message.Words())
    }
  }
}
