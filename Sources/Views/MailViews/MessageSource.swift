internal import Bytes
internal import Index
internal import Mail
internal import Tree

/// Messages in an order, in one state of what holds them: those of a mailbox, or of the files of a folder.
///
/// A message has a position, from 0, in this state. What is expensive to derive from it, its words, is kept by a number
/// that it has in later states, too: in a mailbox, which only grows at its end, that is the position; in a folder, where
/// messages come and go anywhere, it is another one, and numbers of messages that have gone are not used again.
///
/// All methods are thread-safe. Those that take a `Patience` throw `Fault.later` rather than block an impatient caller;
/// the others block.
protocol MessageSource: AnyObject, Sendable {
  /// The file or the folder.
  var file: SourceState { get }
  /// The fault that ended the search for messages early, if any.
  var fault: Fault? { get }
  /// Whether single messages may go while the others stay.
  var losesMessages: Bool { get }
  /// Whether a message is as in a mailbox, where lines `>From ` have one `>` too many.
  func isQuoted(at position: Int) -> Bool
  /// The progress of the search: bytes read, messages found, and whether it is over.
  var reach: (bytes: Int64, messages: Int, isDone: Bool) { get }
  /// Whether the messages are being looked for.
  var isSearched: Bool { get }
  /// Whether the index has what was found.
  var isKept: Bool { get }
  /// The place in the index for what is derived from all messages; nil without an index, or before all are found.
  var store: MailboxContentStore? { get }

  /// The messages of a block of `MailboxDirectory.blockSize`; none past the last one.
  func rows(ofBlock number: Int, _ patience: Patience) throws(Fault) -> [MessageRow]
  /// The number in the name of the message at a position, which there is. It stays while messages come and go.
  func serial(at position: Int, _ patience: Patience) throws(Fault) -> Int
  /// The position of the message with a number in its name; nil if there is none.
  func position(ofSerial number: Int, _ patience: Patience) throws(Fault) -> Int?
  /// The number of messages, once all have been found.
  func count(_ patience: Patience) throws(Fault) -> Int
  /// Throws the fault that ended the search early: for readers past the last message found.
  func checkEnd() throws(Fault)
  /// Resumes a search that ended with a system error, which may be transient.
  func tryAgain()
  /// Ends all waits.
  func end()

  /// The bytes of the message at a position.
  func bytes(
    of message: ShownMessage.Chunk, at position: Int, _ patience: Patience
  ) throws(Fault) -> any ByteSource

  /// What it is made of: itself, or other sources. Blocks until all messages have been found.
  func parts() throws(Fault) -> [SourcePart]
  /// Paths in the source: of what has the message, and of what else has the same one.
  func places(of position: Int) -> [String]
}

/// Messages that keep numbers, by which what is derived from each is in the index.
protocol NumberedSource: MessageSource {
  /// Where the words are in the index; nil without an index.
  var wordsPlace: WordsPlace? { get }
  /// The place in the index for what is derived from each message, by number; nil without an index, or before all are found.
  var numberedStore: MailboxContentStore? { get }
  /// Whether texts of an earlier state, named by its `proof`, are the first `count` of this one.
  func hasGrown(from proof: [UInt8], _ count: Int) throws(Fault) -> Bool
  /// The number of the message at a position, which there is. Blocks, the first time.
  func number(at position: Int) throws(Fault) -> Int
  /// How many numbers are taken.
  func numbers() throws(Fault) -> Int
  /// The messages with the numbers of a block of `MailboxDirectory.blockSize`.
  func numbered(block: Int) throws(Fault) -> [NumberedMessage]
  /// By number, the positions, or `UInt32.max` for what has gone; nil if each is the number.
  var positionsOfNumbers: [UInt32]? { get }
  /// How many messages, from the first on, have numbers below `number`.
  func reach(ofNumbersBelow number: Int) -> Int
}

/// Where the words of a source's messages are in the index.
struct WordsPlace {
  let source: [UInt8]
  /// Names the state of the source: of the same state, the texts are the same, or the first of them.
  let state: [UInt8]
  let proof: [UInt8]
}

/// A message by its number.
struct NumberedMessage {
  let row: MessageRow
  /// nil if the message has gone.
  let position: Int?
  /// The size of all messages up to this one, roughly, in bytes.
  let end: Int64
}

extension MessageSource {
  /// The message at a position, 0 for the first; nil past the last one.
  func row(at position: Int, _ patience: Patience) throws(Fault) -> MessageRow? {
    let rows = try rows(ofBlock: position / MailboxDirectory.blockSize, patience)
    let place = position % MailboxDirectory.blockSize
    if place < rows.count { return rows[place] }
    try checkEnd()
    return nil
  }

  /// The name of the folder of a message.
  func folderName(of row: MessageRow, at position: Int, _ patience: Patience) throws(Fault) -> FileName {
    row.folderName(position: try serial(at: position, patience))
  }

  /// Parses a message; nil if the file is damaged there, or the message has gone, which does not affect other messages. Blocks.
  func messageIfReadable(_ row: MessageRow, at position: Int) throws(Fault) -> Message? {
    do throws(Fault) {
      return try Message(
        reading: bytes(of: ShownMessage.Chunk(row), at: position, .blocking), isQuoted: isQuoted(at: position))
    } catch {
      let hasGone = losesMessages && error.isOfEarlierState
      guard hasGone || error.concernsContent && error.kind != .changed else { throw error }
      return nil
    }
  }
}

extension NumberedSource {
  func parts() throws(Fault) -> [SourcePart] { [SourcePart(self)] }

  /// The positions of the messages with these ascending numbers, those before `reach`.
  func positions(of numbers: [UInt32], before reach: Int) -> [UInt32] {
    guard let positions = positionsOfNumbers else { return Array(numbers.prefix { $0 < reach }) }
    return numbers.compactMap { number in
      guard number < positions.count, positions[Int(number)] < reach else { return nil }
      return positions[Int(number)]
    }
  }
}
