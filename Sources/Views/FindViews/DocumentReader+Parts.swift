internal import Bytes
internal import Catalogue
internal import HTML
internal import Index
internal import Mail
internal import Queries
internal import Tree

/// The chapters of books, the sheets of workbooks, and the tags and subtitles of recordings.
extension DocumentReader {
  /// The extensions of workbooks whose sheets are files of the view `.sheets`.
  static let workbooks = Set(Conversion.sheet.sources.flatMap(\.extensions).map(\.text))
  /// The extensions of subtitles.
  static let subtitles: Set = ["srt", "vtt", "ass", "ssa"]

  /// The maximum size of the text of all parts of a document, in bytes.
  private static let mostText = 16 << 20

  // MARK: Books and workbooks

  /// Returns the chapters of a book, which are its parts. Returns `nil` if it has no outline.
  func book(
    _ document: inout IndexedDocument, _ file: ResolvedPath, in folder: ResolvedPath
  ) throws(Fault) -> [IndexedDocument]? {
    guard let contents = try Self.child((file.names.last ?? "").appending(".contents"), of: folder),
      let container = try Self.file(at: Array(BookOutline.container.utf8), in: contents),
      let path = BookOutline.path(
        in: DocumentText.text(of: try container.bytes(upTo: BookOutline.longest), isPage: false)),
      let package = try Self.file(at: path, in: contents)
    else { return nil }
    let outline = BookOutline(
      DocumentText.text(of: try package.bytes(upTo: BookOutline.longest), isPage: false), at: path)
    var parts: [IndexedDocument] = []
    var size = 0
    for chapter in outline.chapters where size < Self.mostText {
      try CancellationToken.check()
      guard let page = try Self.file(at: chapter, in: contents) else { continue }
      let text = DocumentText.text(of: try page.bytes(upTo: DocumentText.most), isPage: false)
      var part = document.part(Array(".contents/".utf8) + chapter)
      part.size = max(0, page.attributes.size)
      part.body = WordText.indexed(HTMLText.text(of: text))
      part.name(PageHead(of: text).title)
      size += part.body.count
      parts.append(part)
    }
    guard !parts.isEmpty else { return nil }
    document.kind = DocumentKind.book.rawValue
    document.name(outline.title)
    document.declare(outline.language)
    document.body = WordText.indexed(Array(outline.authors.joined(separator: "\n").utf8))
    for index in parts.indices { parts[index].language = document.language }
    document.parts = parts.count
    return parts
  }

  /// Returns the file at a path below a directory. Returns `nil` if there is none.
  private static func file(at path: [UInt8], in folder: ResolvedPath) throws(Fault) -> ResolvedPath? {
    var place = folder
    for name in path.split(separator: UInt8(ascii: "/")) {
      guard place.attributes.kind == .folder, let next = try child(FileName(name), of: place) else { return nil }
      place = next
    }
    return place.attributes.kind == .file ? place : nil
  }

  /// Returns the sheets of a workbook, which are its parts. Returns `nil` if it has one only, or if they cannot be read.
  func sheets(
    _ document: inout IndexedDocument, _ file: ResolvedPath, in folder: ResolvedPath
  ) throws(Fault) -> [IndexedDocument]? {
    guard let view = try Self.child((file.names.last ?? "").appending(".sheets"), of: folder) else { return nil }
    var parts: [IndexedDocument] = []
    var texts: [[UInt8]] = []
    var size = 0
    do throws(Fault) {
      let names = try view.entryNames().map(\.name)
      guard names.count > 1 else { return nil }
      for name in names where size < Self.mostText {
        try CancellationToken.check()
        guard let sheet = try Self.child(name, of: view) else { continue }
        let text = try sheet.bytes(upTo: DocumentText.most).map { $0 == 0x0c ? 0x20 : $0 }
        var part = document.part(Array(".sheets/".utf8) + Array(name.bytes))
        part.size = text.count < DocumentText.most ? Int64(text.count) : nil
        part.words[1] = WordText.indexed(Array(name.bytes.dropLast(4)))
        part.body = WordText.indexed(text)
        size += text.count
        parts.append(part)
        texts.append(text)
      }
    } catch {
      guard error.concernsContent else { throw error }
      return nil
    }
    document.text = Array(texts.joined(separator: [0x0c]))
    document.parts = parts.count
    return parts
  }

  // MARK: Recordings and pictures

  /// Returns the document of a recording or a picture with its tags, the text in it if text is recognized, and the
  /// passages of a film's subtitles as its parts.
  func recording(
    _ document: IndexedDocument, _ file: ResolvedPath, in folder: ResolvedPath, _ kind: DocumentKind
  ) throws(Fault) -> [IndexedDocument] {
    var document = document
    let tags = try tags(of: file, in: folder)
    var text = Array(tags.text.utf8)
    document.add(tags)
    if kind == .image, let taken = tags["date"].flatMap({ LocalTime.seconds($0) }) { document.date = taken }
    if kind == .image, let view = try Self.child((file.names.last ?? "").appending(".as-txt"), of: folder) {
      // Only if text is recognized.
      do throws(Fault) { text += try view.bytes(upTo: DocumentText.most).map { $0 == 0x0c ? 0x0a : $0 } } catch {
        guard error.concernsContent else { throw error }
      }
    }
    document.body = WordText.indexed(text)
    document.text = text
    guard kind == .film, let parts = try embeddedPassages(&document, file, in: folder) else { return [document] }
    return [document] + parts
  }

  /// Returns the tags of a file, as its view `.tags.txt` has them. Empty if it has none.
  func tags(of file: ResolvedPath, in folder: ResolvedPath) throws(Fault) -> TagList {
    guard let view = try Self.child((file.names.last ?? "").appending(".tags.txt"), of: folder) else {
      return TagList()
    }
    do throws(Fault) {
      return TagList(String(decoding: try view.bytes(upTo: DocumentText.most), as: UTF8.self))
    } catch {
      guard error.concernsContent, error.kind != .locked else { throw error }
      return TagList()
    }
  }

  /// Returns the passages of the subtitles in a film. Returns `nil` if it has none.
  private func embeddedPassages(
    _ document: inout IndexedDocument, _ file: ResolvedPath, in folder: ResolvedPath
  ) throws(Fault) -> [IndexedDocument]? {
    let name = file.names.last ?? ""
    var parts: [IndexedDocument] = []
    var texts: [[UInt8]] = []
    do throws(Fault) {
      guard let streams = try Self.child(name.appending(".streams"), of: folder) else { return nil }
      for entry in try streams.entryNames() {
        let words = entry.name.text.split(separator: " ")
        guard words.count > 2, words[1] == "subtitle", let ending = entry.name.fileExtension?.text,
          Self.subtitles.contains(ending), let track = try Self.child(entry.name, of: streams)
        else { continue }
        let passages = SubtitlePassages(DocumentText.text(of: try track.bytes(upTo: DocumentText.most), isPage: false))
        let language = words.count > 3 ? LanguageTag(words[2]) : nil
        for passage in passages.passages {
          guard let clip = passage.clip(of: []) else { continue }
          parts.append(document.part(clip, passage, of: Array(name.bytes), language))
          texts.append(passage.text)
        }
      }
    } catch {
      guard error.concernsContent else { throw error }
    }
    guard !parts.isEmpty else { return nil }
    document.parts = parts.count
    // The tags are only in the index of words.
    document.text = Array(texts.joined(separator: [0x0c]))
    return parts
  }

  /// Returns the passages of subtitles beside a film, which are parts of that film. Returns `nil` if there is no film.
  func passages(
    _ document: inout IndexedDocument, _ subtitles: SubtitlePassages, beside file: ResolvedPath, in folder: ResolvedPath
  ) throws(Fault) -> [IndexedDocument]? {
    let own = (file.names.last ?? "").bytes
    let stems = Self.stems(of: Array(own))
    guard !subtitles.passages.isEmpty, let film = try Self.film(named: stems, in: folder) else { return nil }
    if stems.count > 1 {
      document.declare(String(decoding: stems[0].dropFirst(stems[1].count + 1), as: UTF8.self))
    }
    let start = document.path.lastIndex(of: UInt8(ascii: "/")).map { Array(document.path[...$0]) }
    var parts: [IndexedDocument] = []
    var texts: [[UInt8]] = []
    for passage in subtitles.passages {
      guard let clip = passage.clip(of: Array(film.bytes)) else { continue }
      var part = document.part([], passage, of: Array(film.bytes), nil)
      part.path = (start ?? FoundDocument.beside) + clip
      part.kind = DocumentKind.film.rawValue
      parts.append(part)
      texts.append(passage.text)
    }
    document.parts = parts.count
    document.text = Array(texts.joined(separator: [0x0c]))
    return parts
  }

  /// Returns the name without its extension, and without a language before that.
  private static func stems(of name: [UInt8]) -> [[UInt8]] {
    var stems: [[UInt8]] = []
    var rest = name
    while stems.count < 2, let dot = rest.lastIndex(of: UInt8(ascii: ".")), dot > 0 {
      rest = Array(rest[..<dot])
      stems.append(rest)
    }
    return stems
  }

  private static func film(named stems: [[UInt8]], in folder: ResolvedPath) throws(Fault) -> FileName? {
    for stem in stems {
      for ending in Format.films.flatMap(\.extensions) {
        let name = FileName(stem + [UInt8(ascii: ".")] + Array(ending.text.utf8))
        if let found = try child(name, of: folder), found.attributes.kind == .file { return name }
      }
    }
    return nil
  }
}

extension IndexedDocument {
  /// Returns a part of this document without its words.
  fileprivate func part(_ path: [UInt8]) -> IndexedDocument {
    var part = IndexedDocument(path: self.path + path, kind: kind, date: date, size: nil, words: [[], [], [], []])
    part.fileExtension = fileExtension
    part.language = language
    return part
  }

  /// Returns a passage of this film.
  fileprivate func part(
    _ path: [UInt8], _ passage: SubtitlePassages.Passage, of film: [UInt8], _ language: LanguageTag?
  ) -> IndexedDocument {
    var part = part(path)
    part.title = film + Array(" at \(passage.time)".utf8)
    part.body = WordText.indexed(passage.text)
    if let language { part.language = Array(language.text.utf8) }
    return part
  }

  /// Sets the title, which is searched.
  mutating func name(_ title: String?) {
    guard let title, !title.isEmpty else { return }
    self.title = Array(title.utf8.prefix(500))
    words[0] = WordText.indexed(self.title)
  }

  /// Sets the language, if it is one.
  mutating func declare(_ language: String?) {
    if let tag = language.flatMap({ LanguageTag($0) }) { self.language = Array(tag.text.utf8) }
  }

  /// Sets the title and the language that tags have.
  mutating func add(_ tags: TagList) {
    name(tags["title"]?.split(separator: "\n").first.map { String($0) })
    declare(tags["language"])
  }
}
