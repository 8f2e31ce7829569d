internal import Bytes
internal import Mail
internal import Tree
internal import Unpacking

/// A message shown as a folder: one in a mailbox, or a file that is one.
final class ShownMessage: Sendable {
  /// The source of its bytes.
  enum Origin: Sendable {
    case mailbox(any MessageSource, Chunk)
    /// One that is made of something else has its size when it is made, and the time of what it is made of.
    case file(isMade: Bool)
  }

  /// The range of the mailbox, the date and the checksum of the message; not the whole row, because the kernel may know
  /// very many messages.
  struct Chunk: Sendable {
    let start: Int64
    let size: Int64
    /// In seconds since 1970.
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
  /// The position in the file, from 0.
  let position: Int
  /// The number in its name, from 1.
  private let serial: Int
  private let origin: Origin
  private let messages: MessageTable

  /// Messages up to this size are parsed on the requesting thread, in bytes.
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

  /// The date of the message, or the source's mtime if it has none. Blocks for a file that is not parsed yet.
  func modified(_ patience: Patience) throws(Fault) -> Timestamp {
    let date =
      switch origin {
      case .mailbox(_, let stretch): stretch.date
      case .file(let isMade): isMade ? nil : try message(patience).date()
      }
    return date.map { Timestamp(seconds: $0) } ?? file.attributes.modified
  }

  /// The size of `message.eml`, in bytes. Blocks for one that is not made yet.
  func size(_ patience: Patience) throws(Fault) -> Int64 {
    switch origin {
    case .mailbox(_, let stretch): stretch.size
    case .file(let isMade): isMade ? try bytes(patience).size : file.attributes.size
    }
  }

  /// The bytes of `message.eml`.
  func bytes(_ patience: Patience) throws(Fault) -> any ByteSource {
    switch origin {
    case .mailbox(let mailbox, let stretch): try mailbox.bytes(of: stretch, at: position, patience)
    case .file: try file.open(patience)
    }
  }

  func message(_ patience: Patience) throws(Fault) -> Message {
    if let known = messages[place] { return known }
    let bytes = try bytes(patience)
    // Bytes stored plainly in a file can be read at once.
    if patience == .immediate, bytes.size > Self.promptSize || bytes.extent(at: 0, count: 1) == nil { throw .later }
    // A part of a message must not pass for all of it.
    if let bytes = bytes as? EarlyEnd { throw bytes.fault }
    let isQuoted = if case .mailbox(let mailbox, _) = origin { mailbox.isQuoted(at: position) } else { false }
    let message = try Message(reading: bytes, isQuoted: isQuoted)
    messages.insert(message, for: place)
    return message
  }

  /// Returns the provenance of what shows the message, or a part of it. `damage` finds the fault of the message itself.
  func provenance(
    _ patience: Patience, _ damage: () throws(Fault) -> Fault? = { nil }
  ) throws(Fault) -> Provenance {
    var fault: Fault?
    var isOpen = false
    do throws(Fault) {
      fault = try damage()
      let bytes = try bytes(patience)
      switch bytes.assurance {
      case .damaged(let damage): fault = fault ?? damage
      case .open: isOpen = true
      case .checked, .none: break
      }
      if let bytes = bytes as? EarlyEnd { fault = fault ?? bytes.fault }
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

  /// Throws `later` if making a body or an attachment, to determine its size, is work for another thread.
  func checkPromptness(_ patience: Patience) throws(Fault) {
    if patience == .immediate, try size(patience) > Self.promptSize { throw .later }
  }

  /// Distinguishes what a part of the message shows from anything else that could have its name. It depends on the
  /// message's bytes, not on their location; the folder of a file that is one message is the same whatever the file
  /// holds.
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

  /// The inode number of the message's folder, or of a file in it.
  func inode(_ part: UInt64) -> UInt64 { Self.inode(file, serial, part) }

  /// The inode number of a part of the message with a number in its name.
  static func inode(_ file: SourceState, _ serial: Int, _ part: UInt64) -> UInt64 {
    let number = UInt64(max(0, serial - 1))
    return part < partsInRow ? file.inode(mark, number * partsInRow + part) : file.inode(mark ^ part, number)
  }

  /// The inode number of a message's folder in a folder of the views, `place`, and that of the attachments in it.
  static func folderInode(_ file: SourceState, _ serial: Int, at place: UInt64, _ part: MessagePart = .folder) -> UInt64
  {
    file.inode(place, 2 * UInt64(max(0, serial - 1)) + (part == .attachments ? 1 : 0))
  }

  /// The inode number of one of the message's folders: different at each location, since a folder that appears twice is
  /// taken for a loop. The files in it keep theirs.
  func folderInode(_ part: MessagePart, at place: UInt64) -> UInt64 {
    if place == 0 { return inode(part.number) }
    return Self.folderInode(file, serial, at: place, part)
  }

  func attributes(of part: MessagePart, at place: UInt64, _ patience: Patience) throws(Fault) -> Attributes {
    var attributes = try attributes(part.number, .folder, size: 0, patience)
    attributes.inode = folderInode(part, at: place)
    return attributes
  }

  /// The number of consecutive inode numbers reserved per message.
  private static let partsInRow: UInt64 = 256

  /// Avoids collisions with the inode numbers of other views of the file.
  private static let mark: UInt64 = 0x6D61_696C << 32

  func attributes(_ part: UInt64, _ kind: Kind, size: Int64, _ patience: Patience) throws(Fault) -> Attributes {
    var attributes = file.attributes.view(inode: inode(part), kind: kind, size: size)
    // The folder of a file is a view of it, and looking up a view opens nothing.
    if case .file = origin, part == MessagePart.folder.number { return attributes }
    let date = try modified(patience)
    attributes.modified = date
    attributes.accessed = date
    attributes.changed = date
    return attributes
  }
}
