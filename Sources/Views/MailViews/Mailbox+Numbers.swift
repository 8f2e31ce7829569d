internal import Bytes
internal import Mail
internal import Tree

/// A mailbox as a source of messages, whose numbers are their positions.
extension Mailbox: NumberedSource {
  func isQuoted(at position: Int) -> Bool { true }
  var losesMessages: Bool { false }

  func bytes(
    of message: ShownMessage.Chunk, at position: Int, _ patience: Patience
  ) throws(Fault) -> any ByteSource {
    try bytes(from: message.start, size: message.size, patience)
  }

  func places(of position: Int) -> [String] {
    // Found already, or the message would not be shown.
    guard let row = try? row(at: position, .blocking) else { return [file.path] }
    return ["\(file.path)\(MessagesView.suffix)/\(row.folderName(position: position + 1).text)"]
  }

  func end() { end(with: .ending) }

  /// The content of the messages counts, if it is known, rather than the file's state.
  var wordsPlace: WordsPlace? {
    place.map { place in
      let proof = hash?.packed
      return WordsPlace(source: place.source, state: proof ?? place.state, proof: proof ?? [])
    }
  }

  func number(at position: Int) throws(Fault) -> Int { position }

  func numbers() throws(Fault) -> Int { try count(.blocking) }

  func numbered(block: Int) throws(Fault) -> [NumberedMessage] {
    let first = block * MailboxDirectory.blockSize
    return try rows(ofBlock: block, .blocking).enumerated().map {
      NumberedMessage(row: $1, position: first + $0, end: $1.end)
    }
  }

  var numberedStore: MailboxContentStore? { store }

  var positionsOfNumbers: [UInt32]? { nil }

  func reach(ofNumbersBelow number: Int) -> Int { number }
}
