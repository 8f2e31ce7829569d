internal import Bytes
internal import Mail
internal import Tree

/// A source whose messages have their positions as index numbers: a file with a `.messages` directory.
protocol PositionedSource: NumberedSource {}

extension PositionedSource {
  func number(at position: Int) throws(Fault) -> Int { position }

  func numbers() throws(Fault) -> Int { try count(.blocking) }

  func numbered(block: Int) throws(Fault) -> [NumberedMessage] {
    let first = block * BlockIndex.blockSize
    return try rows(ofBlock: block, .blocking).enumerated().map {
      NumberedMessage(row: $1, position: first + $0, end: $1.end)
    }
  }

  var numberedStore: MailboxContentStore? { store }

  var positionsOfNumbers: [UInt32]? { nil }

  func reach(ofNumbersBelow number: Int) -> Int { number }

  func places(of position: Int) -> [String] {
    // The row is known, or the message would not be shown.
    guard let row = try? row(at: position, .blocking), let name = try? folderName(of: row, at: position, .blocking)
    else { return [file.path] }
    return ["\(file.path)\(MessagesView.suffix)/\(name.text)"]
  }
}
