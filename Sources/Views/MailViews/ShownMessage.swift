internal import Bytes
internal import Mail
internal import Tree
internal import Unpacking

/// A message shown as a directory: a message in a mailbox, or a file that is one.
final class ShownMessage: Sendable {
  /// The source of its bytes.
  enum Origin: Sendable {
    case mailbox(any MessageSource, Chunk)
    /// A message file. If it is derived (`isMade`), its size is known only after the conversion and its time is the
    /// source's.
    case file(isMade: Bool)
  }

  /// The range, date and checksum of a message in a mailbox. Smaller than a row, because the kernel may know very many
  /// messages.
  struct Chunk: Sendable {
    let start: Int64
    let size: Int64
    /// The date, in seconds since 1970.
    let date: Int64?
    let sum: UInt32

    init(_ row: MessageRow) {
      start = row.start
      size = row.size
      date = row.date
      sum = row.sum
    }
  }

  let file: SourceState
  /// The value of `user.ffmount.view`.
  let view: String
  /// The message's position among those of the file, from 0.
  let position: Int
  /// The number in its name, from 1.
  private let serial: Int
  private let origin: Origin
  private let messages: MessageTable

  /// The maximum size of a message that is parsed on the requesting thread, in bytes.
  private static let promptSize: Int64 = 128 << 10

  init(_ file: SourceState, _ origin: Origin, at position: Int, serial: Int = 1, view: String, _ messages: MessageTable)
  {
    self.file = file
    self.origin = origin
    self.position = position
    self.serial = serial
    self.view = view
    self.messages = messages
  }

  private var place: Mailboxes.Place { Mailboxes.Place(state: file.state, number: position) }

  /// Returns the date of the message, or the source's mtime if it has none. Blocks if the file has not been parsed.
  func modified(_ blocking: BlockingMode) throws(Fault) -> Timestamp {
    let date =
      switch origin {
      case .mailbox(_, let stretch): stretch.date
      case .file(let isMade): isMade ? nil : try message(blocking).date()?.seconds
      }
    return date.map { Timestamp(seconds: $0) } ?? file.attributes.modified
  }

  /// Returns the size of `message.eml`, in bytes. Blocks if the message is derived and has not been converted.
  func size(_ blocking: BlockingMode) throws(Fault) -> Int64 {
    switch origin {
    case .mailbox(_, let stretch): stretch.size
    case .file(let isMade): isMade ? try bytes(blocking).available.size : file.attributes.size
    }
  }

  /// Returns the bytes of `message.eml`.
  func bytes(_ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    switch origin {
    case .mailbox(let mailbox, let stretch): try mailbox.bytes(of: stretch, at: position, blocking)
    case .file: try file.open(blocking)
    }
  }

  func message(_ blocking: BlockingMode) throws(Fault) -> Message {
    if let known = messages[place] { return known }
    let bytes = try bytes(blocking)
    // Bytes stored uncompressed in a file can be read at once.
    if blocking == .immediate, bytes.size > Self.promptSize || bytes.extent(at: 0, count: 1) == nil { throw .later }
    // A truncated message must not be taken for a complete one.
    if let end = bytes.earlyEnd { throw end.fault }
    let isQuoted = if case .mailbox(let mailbox, _) = origin { mailbox.isQuoted(at: position) } else { false }
    let message = try Message(reading: bytes, isQuoted: isQuoted)
    messages.insert(message, for: place)
    return message
  }

  /// The offset of the message in its file. `nil` if the file does not contain its bytes as they are.
  private var startInFile: Int64? {
    switch origin {
    case .mailbox(let mailbox, let stretch): mailbox is Mailbox ? stretch.start : mailbox is MailFolder ? 0 : nil
    case .file(let isMade): isMade ? nil : 0
    }
  }

  /// Returns the provenance of an item that shows the message or a part of it. `damage` returns the fault of the item
  /// itself, with an offset in the message.
  func provenance(
    _ blocking: BlockingMode, _ damage: () throws(Fault) -> Fault? = { nil }
  ) throws(Fault) -> Provenance {
    var fault: Fault?
    var isOpen = false
    do throws(Fault) {
      fault = try damage()?.moved(by: startInFile)
      let bytes = try bytes(blocking)
      switch bytes.assurance {
      case .damaged(let damage): fault = fault ?? damage
      case .open: isOpen = true
      case .checked, .none: break
      }
      if let end = bytes.earlyEnd { fault = fault ?? end.fault }
    } catch {
      guard error.concernsContent, error.kind != .changed else { throw error }
      fault = error
    }
    var provenance = file.provenance(view: view, fault)
    if fault == nil, isOpen { provenance.state = .unverified }
    if case .mailbox(let mailbox, let chunk) = origin, chunk.start == 0, chunk.size > 0, mailbox.isQuoted(at: position)
    {
      provenance.remark = "the bytes before the first line that starts a message"
    }
    if case .mailbox(let mailbox, _) = origin, !(mailbox is any NumberedSource) {
      let places = mailbox.places(of: position)
      if let first = places.first { provenance.source = first }
      if places.count > 1 { provenance.also = places.dropFirst().joined(separator: "\n") }
    }
    return provenance
  }

  /// Returns the provenance as far as it is known. Does not open a file that is one message, because that may convert
  /// it.
  func knownProvenance(_ blocking: BlockingMode) throws(Fault) -> Provenance {
    guard case .file = origin else {
      return try provenance(blocking) { messages[place]?.fault }
    }
    var provenance = file.provenance(view: view, messages[place]?.fault)
    try provenance.adopt(file.source.item.knownProvenance(blocking))
    return provenance
  }

  /// Throws `later` if the message is too large to decode a body or an attachment on the requesting thread.
  func checkPromptness(_ blocking: BlockingMode) throws(Fault) {
    if blocking == .immediate, try size(blocking) > Self.promptSize { throw .later }
  }

  /// Distinguishes the content of a part from any other item that could have its name. The identity depends on the
  /// message's bytes, not on their offset. The directory of a file that is one message has the same identity regardless
  /// of the file's content.
  func identity(_ part: MessagePart) -> UInt64 {
    let hash = StableHash(seed: part.number)
    switch origin {
    case .mailbox(_, let stretch):
      // Bytes without a checksum are identified by the file's state.
      let bytes = stretch.sum == 0 ? file.state : UInt64(stretch.sum)
      return hash.adding(UInt64(bitPattern: stretch.size)).adding(bytes).value
    case .file: return part == .folder || part == .attachments ? hash.value : hash.adding(file.revision).value
    }
  }

  /// Returns the inode number of the message's directory, or of a file in it.
  func inode(_ part: UInt64) -> UInt64 { Self.inode(file, serial, part) }

  /// Returns the inode number of a part of the message with the number `serial` in its name.
  static func inode(_ file: SourceState, _ serial: Int, _ part: UInt64) -> UInt64 {
    let number = UInt64(max(0, serial - 1))
    return part < partsInRow ? file.inode(mark, number * partsInRow + part) : file.inode(mark ^ part, number)
  }

  /// Returns the inode number of a message's directory, or of its attachments, in the view directory `place`.
  static func folderInode(_ file: SourceState, _ serial: Int, at place: UInt64, _ part: MessagePart = .folder) -> UInt64
  {
    file.inode(place, 2 * UInt64(max(0, serial - 1)) + (part == .attachments ? 1 : 0))
  }

  /// Returns the inode number of one of the message's directories. It differs in each view directory, because a
  /// directory that appears twice is taken for a loop. The files in it keep their inode numbers.
  func folderInode(_ part: MessagePart, at place: UInt64) -> UInt64 {
    if place == 0 { return inode(part.number) }
    return Self.folderInode(file, serial, at: place, part)
  }

  func attributes(of part: MessagePart, at place: UInt64, _ blocking: BlockingMode) throws(Fault) -> Attributes {
    var attributes = try attributes(part.number, .folder, size: 0, blocking)
    attributes.inode = folderInode(part, at: place)
    return attributes
  }

  /// The number of consecutive inode numbers reserved per message.
  private static let partsInRow: UInt64 = 256

  /// Avoids collisions with the inode numbers of other views of the file.
  private static let mark: UInt64 = 0x6D61_696C << 32

  func attributes(_ part: UInt64, _ kind: Kind, size: Int64, _ blocking: BlockingMode) throws(Fault) -> Attributes {
    var attributes = file.attributes.view(inode: inode(part), kind: kind, size: size)
    // The directory of a file is a view of it, and the lookup of a view opens no file.
    if case .file = origin, part == MessagePart.folder.number { return attributes }
    let date = try modified(blocking)
    attributes.modified = date
    attributes.accessed = date
    attributes.changed = date
    return attributes
  }
}
