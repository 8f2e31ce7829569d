internal import Bytes
internal import Catalogue
internal import HTML
internal import Index
internal import Mail
internal import Queries
internal import Tree

/// Reads the documents in a file of a tree: its text, its pages, its messages, its entries.
struct DocumentReader {
  /// The documents of a source that are indexed already, by path.
  let known: [[UInt8]: KnownDocument]
  /// Whether these are all documents of the source in an earlier state.
  let knowsAll: Bool
  /// Whether known documents of containers are trusted by their path alone, because the source is the same or has grown.
  let trustsPaths: Bool
  let programs: ReadingPrograms
  /// Receives documents. The documents after the first of a call are its parts.
  let sink: ([IndexedDocument]) throws(Fault) -> Void
  /// Whether the source contains other documents.
  private(set) var isContainer = false
  /// The IDs of known documents that stay.
  private(set) var kept: Set<Int64> = []
  /// The first error, which did not stop the rest.
  private(set) var error: (path: [UInt8], fault: Fault)?
  /// Whether programs that are not installed may find more in the source.
  private(set) var lacksPrograms = false
  /// The number of entries read below `listedDepth`.
  private var deepEntries = 0

  init(
    known: [[UInt8]: KnownDocument], knowsAll: Bool, trustsPaths: Bool, programs: ReadingPrograms,
    sink: @escaping ([IndexedDocument]) throws(Fault) -> Void
  ) {
    (self.known, self.knowsAll, self.trustsPaths) = (known, knowsAll, trustsPaths)
    (self.programs, self.sink) = (programs, sink)
  }

  /// The maximum number of containers in each other.
  static let deepest = 8
  /// The number of containers in each other that listings show, too. Below that, a source has at most `mostDeepEntries`:
  /// an archive of archives multiplies.
  private static let listedDepth = 4
  private static let mostDeepEntries = 10_000

  // MARK: Files

  /// Reads the documents of a file.
  ///
  /// - Parameters:
  ///   - path: the path below the source. Empty for the source itself.
  ///   - depth: the number of containers around it.
  mutating func read(_ file: ResolvedPath, in folder: ResolvedPath, path: [UInt8], depth: Int = 0) throws(Fault) {
    try CancellationToken.check()
    if depth > 0, keep(path, file.content) { return }
    do throws(Fault) {
      try readContent(of: file, in: folder, path: path, depth: depth)
    } catch {
      if error.isDelay || error == .noDocumentIndex { throw error }
      var document = document(of: file, path: path)
      document.isLocked = error.kind == .locked
      // Locked files are counted by themselves.
      if !document.isLocked { note(error, at: path) }
      try sink([document])
    }
  }

  /// Reads a real directory, of which only the name is searched.
  func read(folder: ResolvedPath) throws(Fault) {
    var document = document(of: folder, path: [])
    document.size = nil
    try sink([document])
  }

  /// Keeps a known document and its parts. Returns whether there is one with this content.
  mutating func keep(_ path: [UInt8], _ content: UInt64?) -> Bool {
    guard let document = known[path], trustsPaths || content != nil && document.content == content else { return false }
    if [DocumentKind.archive.rawValue, DocumentKind.mailbox.rawValue].contains(document.kind) {
      // Some of the documents in a container may be missing.
      guard knowsAll, document.content != 0, document.content == content else { return false }
      let start = path + [UInt8(ascii: ".")]
      for (inner, other) in known where inner.starts(with: start) { kept.insert(other.id) }
    }
    for id in document.id...document.id + Int64(max(0, document.parts)) { kept.insert(id) }
    return true
  }

  mutating func note(_ fault: Fault, at path: [UInt8]) {
    if error == nil { error = (path, fault) }
  }

  /// Notes what another reader lacks of the same source.
  mutating func note(_ inner: DocumentReader) {
    if let first = inner.error { note(first.fault, at: first.path) }
    if inner.lacksPrograms { lacksPrograms = true }
  }

  private mutating func readContent(
    of file: ResolvedPath, in folder: ResolvedPath, path: [UInt8], depth: Int
  ) throws(Fault) {
    let name = file.names.last ?? ""
    let fileExtension = name.fileExtension?.text ?? ""
    var document = document(of: file, path: path)
    guard file.attributes.size > 0 || file.attributes.isPreliminary else { return try sink([document]) }
    let listed = try file.viewCandidates().filter(\.isListed).map(\.name)
    if let view = listed.first(where: { $0 == name.appending(".messages") && !fileExtension.isEmpty }),
      depth < Self.deepest, let messages = try Self.child(view, of: folder)
    {
      return try readMailbox(document, messages, path: path, depth: depth)
    }
    if let view = listed.first(where: { $0 == name.appending(".contents") && !fileExtension.isEmpty }),
      depth < Self.deepest, let contents = try Self.child(view, of: folder)
    {
      return try readArchive(document, contents, path: path, depth: depth)
    }
    if fileExtension == "epub", let parts = try book(&document, file, in: folder) {
      return try sink([document] + parts)
    }
    if Self.workbooks.contains(fileExtension), let parts = try sheets(&document, file, in: folder) {
      return try sink([document] + parts)
    }
    if Self.converted.contains(fileExtension) {
      do throws(Fault) { return try readConverted(document, file, in: folder, fileExtension) } catch {
        // JSON or a card with a mistake is text like any other.
        guard Self.texts.contains(fileExtension), error.concernsContent else { throw error }
      }
    }
    if let kind = DocumentKind.ofFile(fileExtension), [.image, .sound, .film].contains(kind),
      !Self.isPage(fileExtension)
    {
      if programs.areIncomplete { lacksPrograms = true }
      return try sink(recording(document, file, in: folder, kind))
    }
    let head = try file.bytes(upTo: 4096)
    if fileExtension == "msg" || fileExtension == "eml" || Header.looksLikeMessage(startingWith: head[...]) {
      if try readMessage(file, in: folder, document, depth: depth) { return }
    }
    if fileExtension.isEmpty || DocumentKind.ofFile(fileExtension) == nil {
      if head.starts(with: Array("From ".utf8)), depth < Self.deepest,
        let messages = try Self.child(name.appending(".messages"), of: folder)
      {
        return try readMailbox(document, messages, path: path, depth: depth)
      }
    }
    if DocumentText.isText(startingWith: head) {
      let bytes = head.count < 4096 ? head : try file.bytes(upTo: DocumentText.most)
      let isPage = Self.isPage(fileExtension)
      let text = DocumentText.text(of: bytes, isPage: false)
      if isPage {
        let head = PageHead(of: text)
        document.name(head.title)
        document.declare(head.language)
      } else if document.kind != DocumentKind.code.rawValue, let tag = DeclaredLanguage.inText(text) {
        document.language = Array(tag.text.utf8)
      }
      if document.kind == DocumentKind.other.rawValue { document.kind = DocumentKind.text.rawValue }
      if Self.subtitles.contains(fileExtension),
        let parts = try passages(&document, SubtitlePassages(text), beside: file, in: folder)
      {
        return try sink([document] + parts)
      }
      document.body = WordText.indexed(isPage ? HTMLText.text(of: text) : text)
      return try sink([document])
    }
    if let format = Catalogue.standard.format(startingWith: head[...]),
      let usual = format.extensions.first(where: { Self.converted.contains($0.text) })
    {
      return try readConverted(document, file, in: folder, usual.text)
    }
    // Archives and disk images of any name.
    if depth < Self.deepest, let contents = try Self.child(name.appending(".contents"), of: folder) {
      return try readArchive(document, contents, path: path, depth: depth)
    }
    if programs.areIncomplete {
      lacksPrograms = true
      if DocumentKind.ofFile(fileExtension) == .archive { note(.noProgram, at: path) }
    }
    try sink([document])
  }

  /// Returns the names in a container, a document of its own, which precedes those of its entries.
  mutating func entries(
    of document: IndexedDocument, _ kind: DocumentKind, in contents: ResolvedPath
  ) throws(Fault) -> [(name: FileName, kind: Kind)] {
    var document = document
    document.kind = kind.rawValue
    isContainer = true
    let entries = try contents.entryNames()
    try sink([document])
    return entries
  }

  /// Reads an archive: a document of its own, and its entries.
  private mutating func readArchive(
    _ document: IndexedDocument, _ contents: ResolvedPath, path: [UInt8], depth: Int
  ) throws(Fault) {
    let entries = try entries(of: document, .archive, in: contents)
    try read(entries, of: contents, path: path + Array(".contents/".utf8), depth: depth + 1)
  }

  /// The extensions of files that are text even if they cannot be converted.
  private static let texts: Set = ["json", "ics", "ifb", "vcf", "vcs"]

  /// Returns whether the text of a file is that between its tags. The text of a drawing is, too.
  static func isPage(_ fileExtension: String) -> Bool { ["html", "htm", "xhtml", "svg"].contains(fileExtension) }

  /// The extensions of files whose text is that of their view `.as-txt`.
  private static let converted: Set<String> = {
    let formats = [.pdf, .doc, .xls, .ppt] + Format.office
    // The strings of JSON may have escapes, and the lines of cards are folded.
    return Set(formats.flatMap(\.extensions).map(\.text)).union(texts)
  }()

  static func child(_ name: FileName, of folder: ResolvedPath) throws(Fault) -> ResolvedPath? {
    do throws(Fault) {
      return try waiting { () throws(Fault) in try folder.child(name, .blocking) }
    } catch {
      if error.kind == Fault.notFound.kind { return nil }
      throw error
    }
  }

  /// Returns the document of a file without its text.
  private func document(of file: ResolvedPath, path: [UInt8]) -> IndexedDocument {
    let name = file.names.last ?? ""
    let fileExtension = name.fileExtension?.text ?? ""
    let kind: DocumentKind =
      file.attributes.kind == .folder ? .folder : DocumentKind.ofFile(fileExtension) ?? .other
    var document = IndexedDocument(
      path: path, kind: kind.rawValue, date: file.attributes.modified.seconds,
      size: file.attributes.isPreliminary ? nil : max(0, file.attributes.size),
      words: [[], WordText.indexed(Array(name.bytes).spaced), [], []])
    document.fileExtension = Array(fileExtension.utf8)
    if let tag = DeclaredLanguage.inName(name) { document.language = Array(tag.text.utf8) }
    document.content = file.content ?? 0
    return document
  }

  // MARK: Conversions

  private mutating func readConverted(
    _ document: IndexedDocument, _ file: ResolvedPath, in folder: ResolvedPath, _ fileExtension: String
  ) throws(Fault) {
    let name = file.names.last ?? ""
    var document = document
    if document.kind == DocumentKind.other.rawValue {
      document.kind = (DocumentKind.ofFile(fileExtension) ?? .document).rawValue
    }
    let isPaged = fileExtension == "pdf"
    var known = TagList()
    if isPaged {
      if programs.lackRecognition { lacksPrograms = true }
      known = try tags(of: file, in: folder)
      document.add(known)
    }
    var text: [UInt8]
    do throws(Fault) {
      let view = try Self.child(name.appending(".as-txt"), of: folder)
      if view == nil, programs.areIncomplete {
        lacksPrograms = true
        note(.noProgram, at: document.path)
      }
      text = try view?.bytes(upTo: DocumentText.most) ?? []
      if fileExtension == "json" { text = DocumentText.unescaped(text) }
    } catch {
      guard error.concernsContent, !known.tags.isEmpty else { throw error }
      note(error, at: document.path)
      text = []
    }
    let pages = isPaged ? text.pages : []
    guard pages.count > 1 else {
      document.body = WordText.indexed(text + Array(known.text.utf8))
      document.text = text
      return try sink([document])
    }
    document.body = WordText.indexed(Array(known.text.utf8))
    let width = max(3, "\(pages.count)".utf8.count)
    document.text = text
    var documents = [document]
    for (index, page) in pages.enumerated() {
      let number = "\(index + 1)"
      let zeros = String(repeating: "0", count: width - number.utf8.count)
      var part = IndexedDocument(
        path: document.path + Array(".pages/\(zeros)\(number).pdf".utf8), kind: document.kind, date: document.date,
        size: nil, words: [])
      part.fileExtension = document.fileExtension
      part.language = document.language
      part.body = WordText.indexed(Array(page))
      documents.append(part)
    }
    documents[0].parts = documents.count - 1
    try sink(documents)
  }

  // MARK: Archives

  mutating func read(
    _ entries: [(name: FileName, kind: Kind)], of folder: ResolvedPath, path: [UInt8], depth: Int
  ) throws(Fault) {
    for entry in entries {
      try CancellationToken.check()
      let inner = path + Array(entry.name.bytes)
      if depth > Self.listedDepth {
        guard deepEntries < Self.mostDeepEntries else {
          return note(Fault(.limit, "archives in archives have more entries than are searched"), at: inner)
        }
        deepEntries += 1
      }
      guard entry.kind == .file || entry.kind == .folder else { continue }
      do throws(Fault) {
        guard let found = try Self.child(entry.name, of: folder) else { continue }
        if entry.kind == .folder {
          try read(found.entryNames(), of: found, path: inner + [UInt8(ascii: "/")], depth: depth)
        } else {
          try read(found, in: folder, path: inner, depth: depth)
        }
      } catch {
        if error.isDelay || error == .noDocumentIndex { throw error }
        note(error, at: inner)
      }
    }
  }
}

extension Fault {
  fileprivate static let noProgram = Fault(.unsupported, "the program that reads it is not installed (ffmount doctor)")
}

extension [UInt8] {
  /// The pages of a PDF's text, each of which a form feed ends.
  fileprivate var pages: [ArraySlice<UInt8>] {
    var pages = split(separator: 0x0c, omittingEmptySubsequences: false)
    if let last = pages.last, last.allSatisfy({ $0 <= 0x20 }) { pages.removeLast() }
    return pages
  }

  /// The name with spaces instead of underscores, which are parts of words elsewhere.
  var spaced: [UInt8] { map { $0 == UInt8(ascii: "_") ? 0x20 : $0 } }
}
