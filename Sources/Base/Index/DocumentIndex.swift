internal import Bytes
internal import Files
internal import Glibc
internal import Synchronization

/// The full-text index of all documents below one folder, in its own SQLite (FTS5) file, which several processes share,
/// or in an unnamed file.
///
/// Words and facts are stored, and the texts that cost a conversion. Documents are numbered in the order in which they
/// are added. A number is not used again. Like the other indexes, it is only a cache: a file that is damaged or of
/// another version is recreated. Thread-safe; every call blocks on the disk.
public final class DocumentIndex: Sendable {
  /// A change of the index.
  public enum Change: Sendable {
    /// Records a new source, whose documents follow. A known one stays as it is until it is finished.
    case begin(path: [UInt8], DocumentSource.State)
    /// Adds documents of a source.
    case add(path: [UInt8], [IndexedDocument])
    /// Removes documents.
    case remove([Int64])
    /// Records that all documents of a source in a state are indexed, and the reason why some are missing. `programs` is
    /// 0, or identifies the installed programs if others may find more.
    case finish(path: [UInt8], DocumentSource.State, DocumentSource.Kind, programs: Int64, error: [UInt8])
    /// Removes a source and its documents.
    case forget(Int64)
  }

  /// The path of the file. `nil` for an unnamed file.
  private let path: String?
  private let file: ReopenedFile<DocumentFile>
  /// Whether an unnamed file is locked.
  private let isLocked = Atomic<Bool>(false)

  /// Opens or creates the file. Returns `nil` if that is impossible.
  ///
  /// `version` identifies the code that makes the documents, `options` what they contain. A file of others is replaced.
  /// `share` is the number of files that share the memory for caches.
  convenience init?(path: String, key: [UInt8], version: UInt64, options: UInt64, share: Int = 1) {
    self.init(path) { try DocumentFile.open(path, key, version: version, options: options, share: share) }
  }

  /// Opens a file that no process changes. Returns `nil` if that is impossible, or if it is of other code.
  convenience init?(published path: String, version: UInt64, options: UInt64) {
    self.init(path) { try DocumentFile.openPublished(path, version: version, options: options) }
  }

  /// Creates a private index in an unnamed file, which ends with this object or the process. Returns `nil` if that is
  /// impossible.
  public convenience init?(temporary: ()) { self.init(nil) { try DocumentFile.temporary() } }

  private init?(_ path: String?, _ open: @escaping @Sendable () throws -> DocumentFile) {
    guard let file = try? open() else { return nil }
    self.path = path
    self.file = ReopenedFile(file, open: open)
  }

  /// Whether the documents are lost with this object.
  public var isTemporary: Bool { path == nil }

  /// Copies the file to a directory. Returns whether the copy is there.
  func publish(to folder: String) -> Bool { file.attempt { file in try file.publish(to: folder) } ?? false }

  /// The number of times that the file was replaced or removed since it was opened, because it was damaged or by another
  /// process. The new file has other documents, or none.
  public var replacements: Int { file.replacements }

  /// Returns an exclusive lock for changes, held until it is released. Returns `nil` while another process, or for an
  /// unnamed file another thread, has it.
  public func lock() -> TextIndexLock? {
    if let path { return TextIndexLock(path) }
    guard !isLocked.exchange(true, ordering: .acquiring) else { return nil }
    return TextIndexLock { [self] in isLocked.store(false, ordering: .releasing) }
  }

  /// The size on disk, in bytes. 0 for an unnamed file.
  public var size: Int64 { path.map { TextFile.size($0) } ?? 0 }

  /// Applies changes, all or none. Returns whether they are stored.
  public func apply(_ changes: [Change]) -> Bool { file.change { file in try file.apply(changes) } }

  /// Calls `body` with all sources, or those that are folders or contain other documents, in no order. Returns false if
  /// they could not be read.
  public func forEachSource(isLeadingOnly: Bool = false, _ body: (DocumentSource) -> Void) -> Bool {
    file.attempt { file in try file.forEachSource(isLeadingOnly: isLeadingOnly, body) } != nil
  }

  /// Returns the source at a path below the folder. Returns `nil` if there is none.
  public func source(at path: [UInt8]) -> DocumentSource? { file.attempt { file in try file.source(at: path) } ?? nil }

  /// Returns a source's documents, by path.
  public func documents(of source: Int64) -> [[UInt8]: KnownDocument] {
    file.attempt { file in try file.documents(of: source) } ?? [:]
  }

  /// Empties the log after many changes.
  public func settle() { _ = file.attempt { file in try file.settle() } }

  /// Merges the words of many changes, so that queries are fast. Takes seconds for each gigabyte of text.
  public func optimize() { _ = file.attempt { file in try file.optimize() } }

  /// Removes the file. It is created again by the next call.
  public func forgetAll() { file.condemn() }

  /// The numbers of documents.
  public struct Counts: Sendable {
    public let documents: Int
    /// The number above those of all documents.
    public let limit: Int
    /// The number of removed documents, whose words are left in the file.
    public let removed: Int
    /// The size of the words of all texts, in bytes.
    public let length: Int64
  }

  /// The numbers of documents. `nil` if the file cannot be read.
  public var counts: Counts? { file.attempt { file in try file.counts() } }

  /// Returns the number of sources, and of those whose documents are not all indexed, or were read with other programs
  /// that may have found less. Returns `nil` if the file cannot be read.
  public func sourceCounts(programs: Int64 = 0) -> (all: Int, open: Int)? {
    file.attempt { file in try file.sourceCounts(programs: programs) }
  }

  // MARK: Queries

  /// A fact by which documents are selected.
  public enum Fact: Sendable {
    /// One of these kinds, or one of these extensions.
    case kind([UInt8], extensions: [[UInt8]])
    /// In a language, such as `de`, or a variety of it.
    case language([UInt8])
    /// With a date in a range: of days since 1970 for documents that have a day of their own, and of seconds since 1970
    /// for others.
    case date(days: Range<Int64>, seconds: Range<Int64>)
    /// With a size in a range, in bytes. The second limit is exclusive.
    case size(Int64, Int64)
    /// With a name that ends so. The case of letters is ignored.
    case ending([UInt8])
    /// Below a folder, or in a file: with its path, or its name anywhere on the path, which starts with the name of the
    /// indexed folder.
    case folder([UInt8], indexed: [UInt8])
    /// Below a directory with this path, which may be in a view.
    case below([UInt8])
    /// With parts.
    case parts
    /// With content that needs a password.
    case locked
    /// Messages with a label, and those that a mail program has marked as deleted.
    case label([UInt8])
    case deleted
    /// All.
    case all
  }

  /// The views whose names, with a dot, follow that of the file whose content they show.
  private static let folderViews = ["contents", "messages", "message", "pages", "sheets"]

  /// Selects the numbers and paths of all documents, in lower case. A path starts with the first parameter and ends with
  /// a slash. That of a film beside its subtitles has the folder of these.
  private static let paths = """
    SELECT id FROM (
      SELECT document.id AS id, lower(CAST(?1 AS TEXT) || CASE WHEN substr(document.path, 1, 1) = x'2f'
        THEN rtrim(CAST(source.path AS TEXT), replace(CAST(source.path AS TEXT), '/', ''))
          || substr(CAST(document.path AS TEXT), 2)
        ELSE CAST(source.path AS TEXT) || CAST(document.path AS TEXT) END || '/') AS path
      FROM document JOIN source ON source.id = document.source)
    """
  /// The maximum size of the path of a folder, in bytes.
  private static let longestPath = 8192

  /// Returns a pattern of GLOB that matches only a text.
  private static func quoted(_ text: [UInt8]) -> [UInt8] {
    text.flatMap { Array("*?[".utf8).contains($0) ? [UInt8(ascii: "["), $0, UInt8(ascii: "]")] : [$0] }
  }

  /// Returns the numbers of the documents with a fact, in ascending order. Returns `nil` if the file cannot be read.
  public func numbers(_ fact: Fact) -> [UInt32]? {
    file.attempt { file in
      switch fact {
      case .kind(let kinds, let extensions):
        let marks = { (count: Int) in Array(repeating: "?", count: count).joined(separator: ", ") }
        return try file.numbers(
          """
          SELECT id FROM document WHERE kind IN (\(marks(kinds.count))) OR extension IN (\(marks(extensions.count)))
          ORDER BY id
          """, kinds.map { .integer(Int64($0)) } + extensions.map { .blob($0) })
      case .language(let tag):
        let dash = UInt8(ascii: "-")
        return try file.numbers(
          "SELECT id FROM document WHERE language = ? OR language BETWEEN ? AND ? ORDER BY id",
          [.blob(tag), .blob(tag + [dash]), .blob(tag + [dash + 1])])
      case .date(let days, let seconds):
        return try file.numbers(
          """
          SELECT id FROM document WHERE day >= ? AND day < ? OR day IS NULL AND date >= ? AND date < ? ORDER BY id
          """, [days.lowerBound, days.upperBound, seconds.lowerBound, seconds.upperBound].map { .integer($0) })
      case .size(let first, let end):
        return try file.numbers(
          "SELECT id FROM document WHERE size >= ? AND size < ? ORDER BY id", [.integer(first), .integer(end)])
      case .ending(let ending):
        return try file.numbers(
          "\(Self.paths) WHERE substr(path, -1 - length(CAST(?2 AS TEXT)), length(CAST(?2 AS TEXT))) "
            + "= lower(CAST(?2 AS TEXT)) ORDER BY id",
          [.blob([]), .blob(ending)])
      case .folder(let path, let indexed):
        // SQLite limits the size of patterns.
        if path.count > Self.longestPath { return [] }
        let slash = [UInt8(ascii: "/")]
        // The last name of the path excludes almost all documents. Paths end with a slash, so that a file is in itself.
        let last = slash + (path.split(separator: slash[0]).last ?? [])
        let endings = ["/"] + Self.folderViews.map { ".\($0)/" }
        let isInside = endings.indices.map { "instr(path, lower(CAST(?\($0 + 4) AS TEXT))) > 0" }
        return try file.numbers(
          """
          \(Self.paths) WHERE instr(path, lower(CAST(?2 AS TEXT))) > 0
            AND (\(isInside.joined(separator: " OR ")) OR path GLOB lower(CAST(?3 AS TEXT))) ORDER BY id
          """,
          [
            .blob(slash + (indexed.isEmpty ? [] : indexed + slash)), .blob(last),
            // A passage of a film is in the film.
            .blob(Array("*/".utf8) + Self.quoted(path) + Array(".[0-9]*s-[0-9]*s.as.mp4/".utf8)),
          ] + endings.map { .blob(slash + path + Array($0.utf8)) })
      case .label(let label):
        return try file.numbers("SELECT document FROM label WHERE name = ? ORDER BY document", [.blob(label)])
      case .deleted: return try file.numbers("SELECT id FROM document WHERE isDeleted = 1 ORDER BY id", [])
      case .below(let path): return try file.numbers(below: path)
      case .parts: return try file.numbers("SELECT id FROM document WHERE parts > 0 ORDER BY id", [])
      case .locked: return try file.numbers("SELECT id FROM document WHERE isLocked = 1 ORDER BY id", [])
      case .all: return try file.numbers()
      }
    }
  }

  /// The labels of all messages, including removed ones. `nil` if the file cannot be read.
  public var labels: [[UInt8]]? { file.attempt { file in try file.labels() } }

  /// Returns the numbers of the documents that have parts, and those of the parts, in ascending order.
  public func groups() -> [(first: UInt32, parts: Int)]? {
    file.attempt { file in
      try file.pairs("SELECT id, parts FROM document WHERE parts > 0 ORDER BY id", []).map {
        ($0.0, Int(clamping: $0.1))
      }
    }
  }

  /// The words of documents: those of titles, names and people with their order, and those of texts without.
  public enum Words: String, Sendable {
    case heads
    case bodies
  }

  /// Returns the numbers of the documents that match an FTS5 expression, in ascending order, including removed ones.
  /// In `bodies`, an expression has no phrases.
  public func numbers(
    matching expression: String, in words: Words, among range: ClosedRange<UInt32> = 0...UInt32.max
  ) -> [UInt32]? {
    file.attempt { file in
      try file.numbers(
        """
        SELECT rowid FROM \(words.rawValue) WHERE \(words.rawValue) MATCH CAST(? AS TEXT) AND rowid BETWEEN ? AND ?
        ORDER BY rowid
        """,
        [.blob(Array(expression.utf8)), .integer(Int64(range.lowerBound)), .integer(Int64(range.upperBound))])
    }
  }

  /// Returns the documents whose titles, names or people match an FTS5 expression with their relevance, of which the
  /// larger is the better, in millionths.
  ///
  /// - Parameters:
  ///   - weights: the weights of the columns of words.
  ///   - phrases: the weights of the phrases of the expression, in millionths.
  public func relevance(
    matching expression: String, weights: [Int], phrases: [Int64]
  ) -> [(number: UInt32, relevance: Int64)]? {
    file.attempt { file in
      try file.pairs(
        "SELECT rowid, headrank(heads, ?) FROM heads WHERE heads MATCH CAST(? AS TEXT)",
        [.blob(HeadRank.parameters(columns: weights, phrases: phrases)), .blob(Array(expression.utf8))]
      ).map { ($0.0, $0.1) }
    }
  }

  /// Calls `body` with the name, the title and the people of each document, until it returns false. Returns false if they
  /// could not be read. O(n).
  public func forEachHead(_ body: (UInt32, DocumentHead) -> Bool) -> Bool {
    file.attempt { file in try file.forEachHead(body) } != nil
  }

  /// Returns the facts by which results are ordered, by the numbers of their documents, including removed ones. Returns
  /// `nil` if the file cannot be read. O(n).
  public func ranks() -> [DocumentRank]? { file.attempt { file in try file.ranks() } }

  /// Returns a document. Returns `nil` if it has been removed.
  public func document(_ number: UInt32) -> FoundDocument? { file.attempt { file in try file.document(number) } ?? nil }

  /// Returns the sources of documents, with the documents' numbers. Omits documents that have been removed. Returns `nil`
  /// if the file cannot be read.
  public func sources(of numbers: [UInt32]) -> [(number: UInt32, source: DocumentSource)]? {
    file.attempt { file in try file.sources(of: numbers) }
  }

  /// Returns the stored text of a document. Returns `nil` if there is none.
  public func text(of number: UInt32) -> [UInt8]? { file.attempt { file in try file.text(of: number) } ?? nil }

  /// Returns the stored texts of a document's parts. Returns `nil` if they are not stored with it.
  public func partTexts(of number: UInt32) -> [[UInt8]]? {
    file.attempt { file in try file.partTexts(of: number) } ?? nil
  }

  /// Returns words of the index between two, with the number of documents of each, at most `limit`.
  public func words(
    of words: Words, from first: String, through last: String, atMost limit: Int
  ) -> [(word: String, count: Int)] {
    file.attempt { file in try file.words(isOfHeads: words == .heads, from: first, through: last, atMost: limit) } ?? []
  }
}

extension Index {
  /// Removes the indexes of documents below a folder, or all. Returns the number of files removed. Blocks.
  public func forgetDocuments(below folder: [UInt8]? = nil) -> Int {
    let paths = documentFiles.filter { path in
      folder.map { path.contains("/" + Index.hexadecimal($0) + ".") } ?? true
    }
    for path in paths { DatabaseFile.inode(of: path).map { DatabaseFile.condemn(path, $0) } }
    return paths.count
  }

  /// The number of indexes of documents, and their size in bytes.
  public var documentIndexes: (count: Int, size: Int64) {
    let paths = documentFiles
    return (paths.count, paths.reduce(0) { Bounds.sum($0, TextFile.size($1)) })
  }

  /// The paths of the index files of documents.
  private var documentFiles: [String] {
    guard let base = folder.map({ $0 + "/find" }), (try? OwnFolder.check(base)) != nil else { return [] }
    return fileNames(inFolder: base).filter { $0.hasSuffix(".sqlite") }.map { "\(base)/\($0)" }
  }

  /// Returns the index of the documents below a folder. Returns `nil` if it cannot be stored.
  ///
  /// `version` identifies the code that makes the documents, `options` what they contain. An index of others is
  /// replaced. Blocks.
  public func documents(below folder: [UInt8], version: UInt64, options: UInt64) -> DocumentIndex? {
    guard let base = self.folder.map({ $0 + "/find" }), let key = attempt({ $0.key }),
      (try? OwnFolder.check(base, making: true)) != nil
    else { return nil }
    let name = DocumentFileName(folder).text
    return DocumentIndex(path: "\(base)/\(name)", key: key, version: version, options: options)
  }
}
