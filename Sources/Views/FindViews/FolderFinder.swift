package import Bytes
package import Index
package import Tree

/// A search of everything below a real folder, with the index that it keeps.
package final class FolderFinder: Sendable {
  private let folder: ResolvedPath
  private let real: RealFolder
  private let index: DocumentParts
  private let programs: ReadingPrograms
  /// The only file that is searched, and its view that is shown. `nil` if everything in the folder is.
  private let file: (name: FileName, view: FileName)?

  /// A document found.
  package struct Hit: Sendable {
    /// The number of the document in the index.
    package let number: UInt64
    /// The path below the folder. That of a folder ends with a slash.
    package let path: [UInt8]
    /// The path of its source below the folder, and its state when it was indexed.
    let source: [UInt8]
    let state: DocumentSource.State
    package let kind: DocumentKind
    /// The date, in seconds since 1970. `nil` if it has none.
    package let date: Int64?
    /// The days from 1970-01-01 to the date in the zone of its author. `nil` if the local zone determines it.
    let day: Int32?
    /// The size, in bytes. `nil` if it is unknown.
    package let size: Int64?
    /// The title, or else the name.
    package let title: String
    /// The sender of a message. Empty for other documents.
    package let sender: String
    package let snippet: Snippet
  }

  /// Opens the index of a folder, or creates a temporary one if it cannot be stored, or must not be: that of a view in
  /// another mount of ffmount, which may show what a password opened there. Throws if the folder is not real, or
  /// if there is no room for a temporary file. Blocks.
  ///
  /// - Parameters:
  ///   - folder: a directory in a tree whose views convert files.
  ///   - programs: the programs by which the tree reads files.
  ///   - readsPictures: whether the tree recognizes text in pictures, and the index has that.
  ///   - file: a file in the folder, if only that is searched, and the view of it that paths are relative to.
  ///   - part: the part of the index to make, from 0, and the number of all, which has to be stored. `nil` to search.
  ///   - shared: the directory of several machines that has parts of the index. `nil` for none.
  package init(
    _ folder: ResolvedPath, index: Index, by programs: ReadingPrograms = .all, readsPictures: Bool = false,
    file: (name: FileName, view: FileName)? = nil,
    part: (number: Int, count: Int)? = nil, shared: String? = nil
  ) throws(Fault) {
    guard let real = folder.realFolder else { throw Fault(.unsupported, "it is not a real folder") }
    let recognized: UInt8 = readsPictures ? 1 : 0
    let stored =
      real.lastingIdentity == nil
      ? nil
      : index.documentParts(
        below: Self.key(of: real, recognized, file?.name), version: FolderCrawl.version, options: UInt64(recognized),
        part: part, shared: shared)
    let temporary = stored == nil && part == nil ? DocumentIndex(temporary: ()).map { DocumentParts($0) } : nil
    guard let documents = stored ?? temporary else { throw .noDocumentIndex }
    self.folder = folder
    self.real = real
    self.programs = programs
    self.file = file
    self.index = documents
  }

  /// Returns whether a real folder has an index with recognized text, which is then kept up to date by the same means.
  package static func hasRecognizedText(
    _ folder: ResolvedPath, of file: FileName? = nil, _ index: Index, shared: String? = nil
  ) -> Bool {
    folder.realFolder.map { index.hasDocuments(below: key(of: $0, 1, file), shared: shared) } ?? false
  }

  /// Removes the indexes of the documents below a folder. Returns whether there were any. Blocks.
  package static func forget(_ folder: RealFolder, in index: Index) -> Bool {
    [0, 1].reduce(0) { $0 + index.forgetDocuments(below: key(of: folder, $1)) } > 0
  }

  /// Returns the key of a folder's index, or of that of a file in it. One with recognized text has `options` 1.
  static func key(of folder: RealFolder, _ options: UInt8 = 0, _ file: FileName? = nil) -> [UInt8] {
    let identity = folder.identity
    var key: [UInt8] = []
    for word in [identity.device, identity.inode, identity.created] { key += [UInt8](littleEndian: word) }
    if let file {
      var hash = StableHash(seed: 0)
      hash.combine(Array(file.bytes))
      key += [UInt8](littleEndian: hash.value)
    }
    return key + (options == 0 ? [] : [options])
  }

  /// Work that brings the index up to date. Returns `nil` while another process does that.
  ///
  /// - Parameter isPermitted: Returns whether the work may continue now. `nil` if it always may.
  package func crawl(
    isPermitted: (@Sendable () -> Bool)? = nil
  ) -> (crawl: FolderCrawl, lock: [TextIndexLock])? {
    guard let lock = index.lock() else { return nil }
    return (FolderCrawl(folder, index, only: file?.name, by: programs, isPermitted: isPermitted), lock)
  }

  /// Whether the index is lost with this object, because it cannot be stored.
  package var isTemporary: Bool { index.isTemporary }

  /// The percentage of the index that is there, if it is one that several machines share. Such an index is not brought up
  /// to date here. `nil` for another index.
  package var publishedPercent: Int? { index.isPublished ? index.parts.count * 100 / index.count : nil }

  /// Copies the index to a directory that several machines share. Returns whether that succeeded.
  package func publish(to folder: String) -> Bool { index.publish(to: folder) }

  /// The number of documents in the index.
  package var count: Int { index.documentCount }

  /// The size of the index on disk, in bytes.
  package var size: Int64 { index.size }

  /// Merges the words of the index, so that later searches are faster. Blocks for long.
  package func optimize() { index.optimize() }

  /// The number of times that the index was replaced by an empty one, because it was damaged or by another process.
  package var replacements: Int { index.replacements }

  /// Returns the documents that match a query and that a process may read now, without reading any. Throws if the index
  /// is damaged, which empties it. Blocks.
  ///
  /// - Parameters:
  ///   - place: the path of a directory, below which the documents are. Empty for all.
  ///   - unread: receives the documents that could not be compared with a phrase.
  package func results(
    _ query: FindQuery, for reader: FindReader = .process, below place: [UInt8] = [],
    _ unread: UnreadDocuments = UnreadDocuments()
  ) throws(Fault) -> FolderSearch.Results {
    let before = index.replacements
    let search = FolderSearch(
      index, SourceVisibility(reader, real), isOther: reader.isOther,
      indexed: real.ownName.map { Array($0.bytes) } ?? [])
    let start = place.isEmpty ? [] : file.map { Array($0.view.bytes) + [UInt8(ascii: "/")] } ?? []
    let found = try search.results(query, below: start + place) { [self] (number, term) throws(Fault) in
      guard let document = index.document(number) else { return false }
      let found = try readText(of: document)
      if let fault = found.fault, let path = shown(document.wholePath) { unread.note(path, fault) }
      return found.text.map { TextWords($0).contain(term) } ?? false
    }
    if index.replacements != before { throw .noDocumentIndex }
    return found
  }

  /// Files whose content needs a password, and which are found by their names only.
  package struct Locked: Sendable {
    package var count = 0
    /// The paths of the first ones below the folder.
    package var paths: [[UInt8]] = []

    package init() {}
  }

  /// The maximum number of paths of locked files.
  private static let lockedAtMost = 20

  /// Returns the locked files that a process may find now. Throws if the index cannot be read. Blocks.
  ///
  /// - Parameter place: the path of a directory, below which the files are. Empty for all.
  package func locked(for reader: FindReader = .process, below place: [UInt8] = []) throws(Fault) -> Locked {
    let folder = (file.map { [Array($0.view.bytes)] } ?? []) + (place.isEmpty ? [] : [place])
    let below = Array(folder.joined(separator: [UInt8(ascii: "/")]))
    let visibility = SourceVisibility(reader, real)
    var locked = Locked()
    for part in index.parts {
      guard var numbers = part.index.numbers(.locked) else { throw .noDocumentIndex }
      if !below.isEmpty, !numbers.isEmpty {
        guard let inside = part.index.numbers(.below(below)).map({ Set($0) }) else { throw .noDocumentIndex }
        numbers.removeAll { !inside.contains($0) }
      }
      if let visibility { numbers = try visibility.visible(among: numbers, of: part) }
      locked.count += numbers.count
      for number in numbers.prefix(Self.lockedAtMost - locked.paths.count) {
        if let path = part.index.document(number).flatMap({ shown($0.wholePath) }) { locked.paths.append(path) }
      }
    }
    return locked
  }

  /// Returns whether a process may read the sources of all of these documents now. Blocks.
  func mayRead(_ hits: [Hit], _ reader: FindReader) throws(Fault) -> Bool {
    guard let visibility = SourceVisibility(reader, real) else { return true }
    for hit in hits where try !visibility.isReadable(hit.source, hit.state) { return false }
    return true
  }

  /// Returns a document found, with its snippet. Returns `nil` if it has been removed, or if it lacks a regular
  /// expression of the query. Blocks.
  ///
  /// - Parameters:
  ///   - withSnippet: whether the text is read for that alone.
  ///   - unread: receives the document if it could not be compared with the query.
  package func hit(
    _ number: UInt64, _ query: FindQuery, withSnippet: Bool = true, _ unread: UnreadDocuments = UnreadDocuments()
  ) throws(Fault) -> Hit? {
    guard let document = index.document(number) else { return nil }
    let kind = DocumentKind(rawValue: document.kind) ?? .other
    let isRead = withSnippet || query.isCompared
    let hasText = isRead && ![.folder, .archive, .mailbox].contains(kind)
    var (own, fault) = hasText ? try readText(of: document) : (nil, nil)
    var snippet: Snippet?
    if let own { snippet = Snippet(of: own, query, isLast: document.parts == 0) }
    var texts = own.map { [$0] } ?? []
    // A document whose parts match together has its words in several of them.
    let stored = isRead && document.parts > 0 ? index.partTexts(of: number) : nil
    let count = stored?.count ?? min(document.parts, Self.partsAtMost)
    if query.isCompared, count < document.parts { fault = fault ?? Fault(.limit, "not all of its parts are compared") }
    var part = 0
    while isRead, part < count, snippet == nil || query.isCompared {
      let (text, failure) = try stored == nil ? partText(number &+ UInt64(part) &+ 1) : (stored?[part], nil)
      fault = fault ?? failure
      if let text {
        snippet = snippet ?? Snippet(of: text, query, isLast: false)
        if query.isCompared { texts.append(text) }
      }
      part += 1
    }
    guard let path = shown(document.wholePath) else { return nil }
    guard try matches(document, texts, query) else {
      if let fault { unread.note(path, fault) }
      return nil
    }
    let name = path.split(separator: UInt8(ascii: "/")).last.map { String(decoding: $0, as: UTF8.self) } ?? ""
    return Hit(
      number: number, path: path, source: document.source, state: document.state, kind: kind, date: document.date,
      day: document.day, size: document.size,
      title: document.title.isEmpty ? Self.title(path, name) : String(decoding: document.title, as: UTF8.self),
      sender: String(decoding: document.people, as: UTF8.self), snippet: snippet ?? .empty)
  }

  /// Returns a path as results have it. Returns `nil` for a document outside the view that is shown.
  private func shown(_ path: [UInt8]) -> [UInt8]? {
    guard let file else { return path }
    let start = Array(file.view.bytes) + [UInt8(ascii: "/")]
    return path.starts(with: start) ? Array(path.dropFirst(start.count)) : nil
  }

  /// Returns the text of a document's part, as `readText` does.
  private func partText(_ number: UInt64) throws(Fault) -> (text: [UInt8]?, fault: Fault?) {
    if let text = index.text(of: number) { return (text, nil) }
    guard let part = index.document(number) else { return (nil, nil) }
    return try readText(of: part)
  }

  /// Returns whether the texts of a document have the phrases and regular expressions of a query.
  private func matches(_ document: FoundDocument, _ texts: [[UInt8]], _ query: FindQuery) throws(Fault) -> Bool {
    guard query.isCompared else { return true }
    // Without words, each page of a document is a candidate of its own.
    let isPaged = query.terms.isEmpty && document.parts > 0 && document.kind != DocumentKind.mail.rawValue
    let own = (isPaged ? [] : texts) + [Array(document.wholePath.split(separator: UInt8(ascii: "/")).last ?? [])]
    for pattern in query.patterns where !own.contains(where: pattern.matches) {
      return false
    }
    if query.phrases.isEmpty { return true }
    let words = texts.map { TextWords($0) }
    for phrase in query.phrases where !words.contains(where: { $0.contain(phrase) }) {
      guard let expression = phrase.headExpression,
        index.matches(expression, oneOf: document.id, andParts: document.parts)
      else { return false }
    }
    return true
  }

  /// Returns the title of a document without one: its name, or that of its document and the page or sheet.
  private static func title(_ path: [UInt8], _ name: String) -> String {
    guard let folder = path.split(separator: UInt8(ascii: "/")).dropLast().last else { return name }
    if folder.suffix(6) == Array(".pages".utf8)[...], let page = Int(name.prefix { $0.isNumber }) {
      return "\(String(decoding: folder.dropLast(6), as: UTF8.self)) page \(page)"
    }
    if folder.suffix(7) == Array(".sheets".utf8)[...] {
      return "\(String(decoding: folder.dropLast(7), as: UTF8.self)) sheet \(name.dropLast(4))"
    }
    return name
  }

  /// The maximum number of parts in which the words of a document are looked for, unless their texts are stored.
  private static let partsAtMost = 200

  // MARK: Text

  /// Returns the text of a document in UTF-8: the stored one, or that of its file. Returns no text if it has none, and a
  /// fault if it had one that cannot be read any more. A file that was removed has none.
  private func readText(of document: FoundDocument) throws(Fault) -> (text: [UInt8]?, fault: Fault?) {
    if let text = index.text(of: document.id) { return (text, nil) }
    do throws(Fault) { return (try fileText(of: document), nil) } catch {
      if error.isDelay { throw error }
      return (nil, document.length > 0 && error.kind != Fault.notFound.kind ? error : nil)
    }
  }

  private func fileText(of document: FoundDocument) throws(Fault) -> [UInt8] {
    let kind = DocumentKind(rawValue: document.kind) ?? .other
    var names = document.wholePath.split(separator: UInt8(ascii: "/")).map { FileName($0) }
    let isPage = DocumentReader.isPage(names.last?.fileExtension?.text ?? "")
    let isTagged = [.image, .sound, .film].contains(kind) && !isPage
    if isTagged || kind == .document && document.parts > 0, let last = names.popLast() {
      // Its other texts are stored.
      return try place(names + [last.appending(".tags.txt")]).bytes(upTo: DocumentText.most)
    }
    if kind == .mail {
      if let last = names.last, !document.isDirectory {
        names[names.count - 1] = last.appending(".message")
      }
      return try place(names + ["body.txt"]).bytes(upTo: DocumentText.most)
    }
    let file = try place(names)
    guard file.attributes.kind == .file else { return [] }
    let bytes = try file.bytes(upTo: DocumentText.most)
    guard DocumentText.isText(startingWith: Array(bytes.prefix(4096))) else { return [] }
    return DocumentText.text(of: bytes, isPage: isPage)
  }

  private func place(_ names: [FileName]) throws(Fault) -> ResolvedPath {
    try waiting { () throws(Fault) in
      try ResolvedPath.find(names, in: folder.tree, from: folder, followsLast: false, .blocking)
    }
  }
}

extension FoundDocument {
  /// Whether it is the directory of a message in a mailbox, and not a file.
  fileprivate var isDirectory: Bool {
    let folder = wholePath.split(separator: UInt8(ascii: "/")).dropLast().last
    return folder.map { $0.suffix(9) == Array(".messages".utf8)[...] } ?? false
  }
}
