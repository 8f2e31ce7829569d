internal import Bytes
internal import Mail
internal import Tree

/// The directory of a message: its bytes, header, bodies and attachments.
final class MessageFolder: DerivedItem {
  let message: ShownMessage
  /// Identifies the view directory that contains it. 0 for the mailbox's own directory.
  private let place: UInt64
  /// The optional parts. Nil if unknown.
  private let shape: MessageShape?
  var inode: UInt64 { message.folderInode(.folder, at: place) }
  var kind: Kind { .folder }
  var file: SourceState { message.file }
  var identity: UInt64 { message.identity(.folder) }
  var listsViews: Bool { false }
  /// Sizes are known only after decoding.
  var attributeCost: AttributeCost { .large }

  init(_ message: ShownMessage, at place: UInt64 = 0, _ shape: MessageShape? = nil) {
    self.message = message
    self.place = place
    self.shape = shape
  }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
    try message.attributes(of: .folder, at: place, blocking)
  }

  func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    guard let part = MessagePart.named(name), try parts(blocking, upTo: part).contains(part) else { return nil }
    let item: any Item = part == .attachments ? AttachmentFolder(message, at: place) : MessageFile(message, part)
    return LookupResult(item, try item.attributes(blocking))
  }

  func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor {
    IndexedCursor(
      try parts(blocking).map { part in
        part == .attachments
          ? (part.name, message.folderInode(part, at: place), .folder)
          : (part.name, message.inode(part.number), .file)
      })
  }

  /// Returns the parts in the directory. With `wanted`, only the presence of that part is certain, which may avoid
  /// parsing the message.
  private func parts(_ blocking: BlockingMode, upTo wanted: MessagePart? = nil) throws(Fault) -> [MessagePart] {
    var parts: [MessagePart] = [.bytes, .header, .text]
    if let wanted, parts.contains(wanted) { return parts }
    var shape = shape
    do throws(Fault) {
      if shape == nil { shape = MessageShape(of: try message.message(blocking)) }
    } catch {
      // A message that cannot be read is listed. Reading it fails.
      guard error.concernsContent, error.kind != .changed else { throw error }
    }
    guard let shape else { return parts }
    if shape.contains(.html) { parts += wanted == .original ? [.html, .original] : [.html] }
    if shape.contains(.attachments) { parts.append(.attachments) }
    return parts
  }

  func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    try message.provenance(blocking) { () throws(Fault) in try message.message(blocking).fault }
  }

  func knownProvenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    try message.knownProvenance(blocking)
  }
}

/// The directory of a message and the items in it.
enum MessagePart: Hashable, Sendable {
  case folder
  case bytes
  case header
  case text
  case html
  /// Found by name but not listed, because it is not safe to open.
  case original
  case attachments
  case attachment(Int)

  private static let names: [(part: MessagePart, name: FileName)] = [
    (.bytes, "message.eml"), (.header, "headers.txt"), (.text, "body.txt"), (.html, "body.html"),
    (.original, "body.original.html"), (.attachments, "attachments"),
  ]

  static func named(_ name: FileName) -> MessagePart? { names.first { $0.name == name }?.part }

  var name: FileName { Self.names.first { $0.part == self }?.name ?? "" }

  /// A stable number above 0, from which inode numbers are derived.
  var number: UInt64 {
    switch self {
    case .folder: 1
    case .bytes: 2
    case .header: 3
    case .text: 4
    case .html: 5
    case .attachments: 6
    case .original: 7
    case .attachment(let index): 16 + UInt64(index)
    }
  }
}

/// The directory of a message's decoded attachments.
final class AttachmentFolder: DerivedItem {
  private let message: ShownMessage
  /// Identifies the view directory that contains the message's directory.
  private let place: UInt64
  var inode: UInt64 { message.folderInode(.attachments, at: place) }
  var kind: Kind { .folder }
  var file: SourceState { message.file }
  var identity: UInt64 { message.identity(.attachments) }
  var attributeCost: AttributeCost { .large }

  init(_ message: ShownMessage, at place: UInt64) {
    self.message = message
    self.place = place
  }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
    try message.attributes(of: .attachments, at: place, blocking)
  }

  func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    guard let index = try message.message(blocking).attachment(named: name) else { return nil }
    let file = MessageFile(message, .attachment(index))
    return LookupResult(file, try file.attributes(blocking))
  }

  func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor {
    IndexedCursor(
      try message.message(blocking).attachments.enumerated().map { index, attachment in
        (attachment.name, message.inode(MessagePart.attachment(index).number), .file)
      })
  }

  func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    try message.provenance(blocking)
  }

  func knownProvenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    try message.knownProvenance(blocking)
  }
}

/// A file in a message's directory, or an attachment.
final class MessageFile: DerivedItem {
  private let message: ShownMessage
  private let part: MessagePart
  var inode: UInt64 { message.inode(part.number) }
  var kind: Kind { .file }
  var file: SourceState { message.file }
  var identity: UInt64 { message.identity(part) }

  init(_ message: ShownMessage, _ part: MessagePart) {
    self.message = message
    self.part = part
  }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
    let size: Int64
    if part == .bytes {
      size = try message.size(blocking)
    } else {
      size = try content(blocking).size
    }
    return try message.attributes(part.number, .file, size: size, blocking)
  }

  func open(pinned: Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    part == .bytes ? try message.bytes(blocking) : try content(blocking)
  }

  private func content(_ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    let taken = try message.message(blocking)
    try message.checkPromptness(blocking)
    switch part {
    case .header: return ByteArraySource(try taken.headersText())
    case .text: return try taken.open(taken.body)
    case .html:
      guard let html = taken.html else { throw .notFound }
      return try taken.open(html)
    case .original:
      guard let html = taken.originalHTML else { throw .notFound }
      return try taken.open(html)
    case .attachment(let index):
      guard taken.attachments.indices.contains(index) else { throw .notFound }
      return try taken.open(taken.attachments[index])
    case .folder, .bytes, .attachments: throw .isFolder
    }
  }

  func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    guard case .attachment(let index) = part else { return try message.provenance(blocking) }
    return try message.provenance(blocking) { () throws(Fault) in
      let taken = try message.message(blocking)
      try message.checkPromptness(blocking)
      return taken.attachments.indices.contains(index) ? try taken.damage(of: taken.attachments[index]) : nil
    }
  }

  func knownProvenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    try message.knownProvenance(blocking)
  }
}
