internal import Bytes
internal import Mail
internal import Tree

/// A mailbox as a source of messages, whose numbers are their positions.
extension Mailbox: PositionedSource {
  func isQuoted(at position: Int) -> Bool { true }
  var losesMessages: Bool { false }

  func bytes(
    of message: ShownMessage.Chunk, at position: Int, _ patience: Patience
  ) throws(Fault) -> any ByteSource {
    try bytes(from: message.start, size: message.size, patience)
  }

  func end() { end(with: .ending) }

  /// The content of the messages counts, if it is known, rather than the file's state.
  var wordsPlace: WordsPlace? {
    place.map { place in
      let proof = hash?.packed
      return WordsPlace(source: place.source, state: proof ?? place.state, proof: proof ?? [])
    }
  }
}
