package import Bytes
internal import Index
internal import Mail
internal import Tree

/// The extractor of attachments' text, for an index that includes their words.
package struct AttachedTexts: Sendable {
  /// The extent of the text that is extracted.
  package enum Extent: UInt8, CaseIterable, Sendable {
    /// The text that the files contain.
    case text = 1
    /// Also the text that is visible in pictures.
    case recognition = 2

    /// All extents, in the order in which searches prefer them.
    static let best = allCases.sorted { $0.rawValue > $1.rawValue }

    /// Returns the source of a mailbox's index with such words. `plain` is the source without them.
    func source(_ plain: [UInt8]) -> [UInt8] { plain + [rawValue] }
  }

  let extent: Extent
  /// A function that extracts the text of a file that is not text.
  package typealias Maker = @Sendable (AttachedFile) throws(Fault) -> [UInt8]?
  /// Returns the text in UTF-8. Returns `nil` if none can be extracted.
  let text: Maker

  package init(_ extent: Extent, text: @escaping Maker) {
    self.extent = extent
    self.text = text
  }
}

/// A file that is attached to a message.
package struct AttachedFile: Sendable {
  /// The names on the path of the mailbox, whose views contain the message.
  package let mailbox: [FileName]
  /// The name of the message's directory.
  package let message: FileName
  /// The path below the message's `attachments` directory: the names of views of attached messages, then the file's.
  package let path: [FileName]

  package init(_ path: [FileName], of message: FileName, in mailbox: [FileName]) {
    self.mailbox = mailbox
    self.message = message
    self.path = path
  }
}

extension Indexing {
  /// Calls `body` with the directory name of each message that has attachments. Blocks until all messages have been
  /// found. Rethrows the faults of `body`.
  package func forEachMessageWithFiles(
    of search: Search, _ body: (FileName) throws(Fault) -> Void
  ) throws(Fault) {
    let mailbox = search.mailbox
    let count = try mailbox.count(.blocking)
    var position = 0
    while position < count {
      let (block, start) = position.quotientAndRemainder(dividingBy: BlockIndex.blockSize)
      let rows = try mailbox.rows(ofBlock: block, .blocking).dropFirst(start)
      if rows.isEmpty { return }
      for row in rows {
        let message = try mailbox.messageIfReadable(row, at: position)
        position += 1
        guard let message, !message.attachments.isEmpty else { continue }
        try body(mailbox.folderName(of: row, at: position - 1, .blocking))
      }
    }
  }
}

extension MessageSource {
  /// Returns the words of a message, with those of `attached`. Returns none if the file is damaged there or the message
  /// has been removed. Blocks.
  func text(of numbered: NumberedMessage, attached: AttachedTexts?) throws(Fault) -> IndexedText {
    guard let position = numbered.position, let message = try messageIfReadable(numbered.row, at: position) else {
      return IndexedText(Message.Words())
    }
    do throws(Fault) {
      guard let attached else { return IndexedText(try message.words()) }
      let folder = try folderName(of: numbered.row, at: position, .blocking)
      return IndexedText(
        try message.words { (path) throws(Fault) in
          try attached.text(AttachedFile(path, of: folder, in: self.file.source.way))
        })
    } catch {
      guard error.concernsContent, error.kind != .changed else { throw error }
      return IndexedText(Message.Words())
    }
  }
}
