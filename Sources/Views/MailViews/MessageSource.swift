internal import Bytes
internal import Index
internal import Mail
internal import Tree
internal import Unpacking

/// An ordered collection of messages, in one state of its source: a mailbox, or a directory of message files.
///
/// A message has a position in this state, from 0. Data that is expensive to derive, such as its words, is stored under
/// an index number that the message keeps in later states. In a mailbox, which only grows at its end, that is the
/// position. In a directory, where messages are added and removed anywhere, it is a separate number. Index numbers of
/// removed messages are not reused. The serial number in a message's name is assigned independently: see `NumberBook`.
///
/// All methods are thread-safe. Methods that take a `BlockingMode` throw `Fault.later` instead of blocking if it is
/// `immediate`. The others block.
protocol MessageSource: AnyObject, Sendable {
  /// The file or directory.
  var file: SourceState { get }
  /// The fault that ended the search for messages early, if any.
  var fault: Fault? { get }
  /// Whether single messages can be removed while the others remain.
  var losesMessages: Bool { get }
  /// Returns whether lines `>From ` of a message have an extra `>`, as in a mailbox.
  func isQuoted(at position: Int) -> Bool
  /// The progress of the search: bytes read, messages found, and whether it is over.
  var reach: (bytes: Int64, messages: Int, isDone: Bool) { get }
  /// Whether the search for messages is running.
  var isSearched: Bool { get }
  /// Whether the messages found are stored in the index.
  var isKept: Bool { get }
  /// The index location of data derived from all messages. Nil without an index, or until all messages have been found.
  var store: MailboxContentStore? { get }

  /// Returns the messages of a block of `BlockIndex.blockSize`, or none past the last block.
  func rows(ofBlock number: Int, _ blocking: BlockingMode) throws(Fault) -> [MessageRow]
  /// Returns the number in the name of the message at a position, which must exist. It stays the same when other
  /// messages are added or removed.
  func serial(at position: Int, _ blocking: BlockingMode) throws(Fault) -> Int
  /// Returns the position of the message with a number in its name. Returns `nil` if there is none.
  func position(ofSerial number: Int, _ blocking: BlockingMode) throws(Fault) -> Int?
  /// Returns the number of messages once all have been found.
  func count(_ blocking: BlockingMode) throws(Fault) -> Int
  /// Throws the fault that ended the search early. For readers past the last message found.
  func checkEnd() throws(Fault)
  /// Allows a search that ended with a system error, which may be transient, to resume.
  func tryAgain()
  /// Ends all waits.
  func end()

  /// Returns the bytes of the message at a position.
  func bytes(
    of message: ShownMessage.Chunk, at position: Int, _ blocking: BlockingMode
  ) throws(Fault) -> any ByteSource

  /// Returns the sources that this one is composed of, or this one alone. Blocks until all messages have been found.
  func parts() throws(Fault) -> [SourcePart]
  /// Returns the path of the message at a position, followed by the paths of its copies.
  func places(of position: Int) -> [String]
}

/// A source whose messages have index numbers, under which data derived from each message is stored in the index.
protocol NumberedSource: MessageSource {
  /// The index location of the words. Nil without an index.
  var wordsPlace: WordsPlace? { get }
  /// The index location of data derived from each message, by number. Nil without an index, or until all messages have
  /// been found.
  var numberedStore: MailboxContentStore? { get }
  /// Returns whether the texts of an earlier state, identified by its `proof`, are the first `count` of this state.
  func hasGrown(from proof: [UInt8], _ count: Int) throws(Fault) -> Bool
  /// Returns the number of the message at a position, which must exist. Blocks on the first call.
  func number(at position: Int) throws(Fault) -> Int
  /// Returns one more than the highest number of a message.
  func numbers() throws(Fault) -> Int
  /// Returns the messages with the numbers of a block of `BlockIndex.blockSize`.
  func numbered(block: Int) throws(Fault) -> [NumberedMessage]
  /// The positions, by number. `UInt32.max` stands for a removed message. Nil if each position equals its number.
  var positionsOfNumbers: [UInt32]? { get }
  /// Returns the number of leading messages whose numbers are all below `number`.
  func reach(ofNumbersBelow number: Int) -> Int
}

/// The index location of the words of a source's messages.
struct WordsPlace {
  let source: [UInt8]
  /// Identifies the state of the source. The texts indexed for an equal state are those of the source, or the first of
  /// them.
  let state: [UInt8]
  let proof: [UInt8]
}

/// A message with its index number.
struct NumberedMessage {
  let row: MessageRow
  /// Nil if the message has been removed.
  let position: Int?
  /// The approximate size of all messages up to this one, in bytes.
  let end: Int64
}

extension MessageSource {
  /// Returns the message at a position, from 0. Returns `nil` past the last one.
  func row(at position: Int, _ blocking: BlockingMode) throws(Fault) -> MessageRow? {
    let rows = try rows(ofBlock: position / BlockIndex.blockSize, blocking)
    let place = position % BlockIndex.blockSize
    if place < rows.count { return rows[place] }
    try checkEnd()
    return nil
  }

  /// Returns the name of a message's directory.
  func folderName(of row: MessageRow, at position: Int, _ blocking: BlockingMode) throws(Fault) -> FileName {
    row.folderName(position: try serial(at: position, blocking))
  }

  /// Parses a message, or its start if its bytes end too early. Blocks. Returns `nil` if the file is damaged there or
  /// the message has been removed, neither of which affects other messages.
  func messageIfReadable(_ row: MessageRow, at position: Int) throws(Fault) -> Message? {
    do throws(Fault) {
      return try Message(
        reading: bytes(of: ShownMessage.Chunk(row), at: position, .blocking).available,
        isQuoted: isQuoted(at: position))
    } catch {
      let hasGone = losesMessages && error.isOfEarlierState
      guard hasGone || error.concernsContent && error.kind != .changed else { throw error }
      return nil
    }
  }
}

extension NumberedSource {
  func parts() throws(Fault) -> [SourcePart] { [SourcePart(self)] }

  /// Returns the positions below `reach` of the messages with these ascending numbers.
  func positions(of numbers: [UInt32], before reach: Int) -> [UInt32] {
    guard let positions = positionsOfNumbers else { return Array(numbers.prefix { $0 < reach }) }
    return numbers.compactMap { number in
      guard number < positions.count, positions[Int(number)] < reach else { return nil }
      return positions[Int(number)]
    }
  }
}
