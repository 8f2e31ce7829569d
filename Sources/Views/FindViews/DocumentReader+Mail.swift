internal import Bytes
internal import Index
internal import Mail
internal import Tree

/// Messages and their attachments.
extension DocumentReader {
  /// The maximum size of a message that is parsed, in bytes.
  private static let longestMessage: Int64 = 256 << 20

  /// The maximum size of the parts of one document that are collected, in bytes.
  private static let mostOfParts = 48 << 20

  mutating func readMailbox(
    _ document: IndexedDocument, _ messages: ResolvedPath, path: [UInt8], depth: Int
  ) throws(Fault) {
    let entries = try entries(of: document, .mailbox, in: messages)
    try readMessages(entries, in: messages, path: path + Array(".messages/".utf8), depth: depth + 1)
  }

  mutating func readMessages(
    _ entries: [(name: FileName, kind: Kind)], in folder: ResolvedPath, path: [UInt8], depth: Int
  ) throws(Fault) {
    // The last known message may have grown.
    let last = trustsPaths ? entries.lastIndex { known[path + Array($0.name.bytes)] != nil } : nil
    for (index, entry) in entries.enumerated() where entry.kind == .folder {
      try CancellationToken.check()
      let inner = path + Array(entry.name.bytes)
      if trustsPaths, index != last, keep(inner, nil) { continue }
      do throws(Fault) {
        guard let message = try Self.child(entry.name, of: folder) else { continue }
        if !trustsPaths, keep(inner, message.content) { continue }
        guard let bytes = try Self.child("message.eml", of: message) else { continue }
        // The name has the day of a message whose header has none.
        let date = MessageRow.day(inFolderName: entry.name).map { (message.attributes.modified.seconds, Int32($0)) }
        try readMessage(
          bytes, isQuoted: true, path: inner, size: bytes.attributes.size, [], message.content ?? 0, depth, date
        ) { () throws(Fault) in try Self.child("attachments", of: message) }
      } catch {
        if error.isDelay || error == .noDocumentIndex { throw error }
        note(error, at: inner)
      }
    }
  }

  /// Reads a file that is one message. Returns whether it is one.
  mutating func readMessage(
    _ file: ResolvedPath, in folder: ResolvedPath, _ document: IndexedDocument, depth: Int
  ) throws(Fault) -> Bool {
    let name = file.names.last ?? ""
    guard let message = try Self.child(name.appending(".message"), of: folder),
      let bytes = try Self.child("message.eml", of: message)
    else { return false }
    try readMessage(
      bytes, isQuoted: false, path: document.path, size: file.attributes.size, Self.state(of: file), document.content,
      depth, in: ".message", name
    ) { () throws(Fault) in try Self.child("attachments", of: message) }
    return true
  }

  /// Returns the state of a message that the name of its file has, which is in a Maildir.
  private static func state(of file: ResolvedPath) -> MessageState {
    guard let name = file.names.last, let folder = file.names.dropLast().last, ["cur", "new"].contains(folder) else {
      return []
    }
    return MessageState(maildirFlags: MessageState.parts(ofMaildirName: name.bytes).flags ?? [])
  }

  private mutating func readMessage(
    _ bytes: ResolvedPath, isQuoted: Bool, path: [UInt8], size: Int64, _ state: MessageState, _ content: UInt64,
    _ depth: Int, _ date: (seconds: Int64, day: Int32)? = nil, in view: String = "", _ name: FileName? = nil,
    attachments: () throws(Fault) -> ResolvedPath?
  ) throws(Fault) {
    guard size <= Self.longestMessage else { throw Fault(.limit, "the message is too long to be indexed") }
    let source = try waiting { () throws(Fault) in try bytes.open(.blocking) }.source
    let message = try waiting { () throws(Fault) in try Message(reading: source, isQuoted: isQuoted) }
    // Attachments are documents of their own.
    let areRead = depth < Self.deepest
    let words = try areRead ? message.ownWords() : message.words()
    let subject = words.subject.prefix { $0 != 0x0a }
    var row = try waiting { () throws(Fault) in try MessageRow(ofFile: source, from: 0, to: source.size) }
    row.note(state)
    var document = IndexedDocument(
      path: path, kind: DocumentKind.mail.rawValue, date: row.date ?? date?.seconds, size: size,
      words: [
        WordText.indexed(words.subject), WordText.indexed(words.files + (name.map { Array($0.bytes).spaced } ?? [])),
        WordText.indexed(words.sender), WordText.indexed(words.recipients),
      ])
    document.day = row.date == nil ? date?.day : row.localDay.map { Int32(clamping: $0) }
    document.labels = row.labels.map { Array($0.utf8) }
    document.isDeleted = row.isDeleted
    document.body = WordText.indexed(words.body)
    document.title = Array(subject.prefix(500))
    document.people = Array(words.sender.prefix { $0 != 0x0a }.prefix(200))
    document.fileExtension = Array("eml".utf8)
    document.declare(String(decoding: words.language, as: UTF8.self))
    document.content = content
    var documents = [document]
    if !message.attachments.isEmpty, areRead, let folder = try attachments() {
      documents += try read(
        attachmentsIn: folder, path: path + Array("\(view)/attachments/".utf8), depth: depth + 1)
    }
    documents[0].parts = documents.count - 1
    try sink(documents)
  }

  /// Returns the documents of a message's attachments, as far as they fit in memory. Passes the rest on by themselves.
  private mutating func read(
    attachmentsIn folder: ResolvedPath, path: [UInt8], depth: Int
  ) throws(Fault) -> [IndexedDocument] {
    let collected = Collected()
    let outer = sink
    var inner = DocumentReader(known: [:], knowsAll: false, trustsPaths: false, programs: programs) {
      (documents) throws(Fault) in
      guard collected.cost < Self.mostOfParts else { return try outer(documents) }
      collected.documents += documents
      collected.cost += documents.reduce(0) { $0 + $1.cost }
    }
    for entry in try folder.entryNames() where entry.kind == .file {
      do throws(Fault) {
        guard let file = try Self.child(entry.name, of: folder) else { continue }
        try inner.read(file, in: folder, path: path + Array(entry.name.bytes), depth: depth)
      } catch {
        if error.isDelay || error == .noDocumentIndex { throw error }
        note(error, at: path + Array(entry.name.bytes))
      }
    }
    note(inner)
    return collected.documents
  }

  private final class Collected {
    var documents: [IndexedDocument] = []
    var cost = 0
  }
}
