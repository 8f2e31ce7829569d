internal import Bytes
internal import Mail
internal import Tree

/// Conformance of a mailbox, whose messages are numbered by position.
extension Mailbox: PositionedSource {
  func isQuoted(at position: Int) -> Bool { true }
  var losesMessages: Bool { false }

  func bytes(
    of message: ShownMessage.Chunk, at position: Int, _ blocking: BlockingMode
  ) throws(Fault) -> any ByteSource {
    try bytes(from: message.start, size: message.size, blocking)
  }

  func end() { end(with: .ending) }

  /// The index location of the words. The state is the content's hash if that is known, and otherwise the file's state.
  var wordsPlace: WordsPlace? {
    place.map { place in
      let proof = hash?.packed
      return WordsPlace(source: place.source, state: proof ?? place.state, proof: proof ?? [])
    }
  }
}
