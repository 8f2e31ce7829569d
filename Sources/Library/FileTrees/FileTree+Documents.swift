package import Bytes
internal import FindViews
internal import Index
internal import MailViews
public import SystemPackage
internal import Threads
internal import Tree

extension FileTree {
  /// A document found by a search: a file, a page, a message, an entry of an archive.
  public struct Document: Sendable, Hashable {
    /// The path from the root.
    public let path: FilePath
    /// The kind, such as `mail`, `document`, `image` or `folder`.
    public let kind: String
    /// The date of a message, or the time of the last change. `nil` if there is none.
    public let date: Time?
    /// The size in bytes. `nil` if it is unknown, as for a page of a PDF that is made when it is opened.
    public let size: Int64?
    /// The title, or the name if it has no title.
    public let title: String
    /// The sender of a message. Empty for other documents.
    public let sender: String
    /// A line of its text around the words of the query. Empty if there is none.
    public let snippet: String
    /// The words of the query in the snippet, as ranges of UTF-8 bytes.
    public let marks: [Range<Int>]
    /// The position among the results, from 1.
    public let rank: Int

    /// Whether the path is of a directory: a folder, or a message in a mailbox.
    public let isDirectory: Bool

    /// - Parameter folder: The directory that the hit's path starts from.
    init(_ hit: FolderFinder.Hit, rank: Int, in folder: FilePath) {
      var path = folder
      path.append(FilePath(hit.path.split(separator: UInt8(ascii: "/")).map { FileName($0) }).components)
      self.path = path
      kind = hit.kind.name
      date = hit.date.map { Time(seconds: $0) }
      size = hit.size
      title = hit.title
      sender = hit.sender
      snippet = hit.snippet.text
      marks = hit.snippet.marks
      self.rank = rank
      isDirectory = hit.isFolder
    }

    init(_ message: Message, rank: Int) {
      path = message.path
      kind = DocumentKind.mail.name
      date = message.date
      size = message.size
      title = message.subject
      sender = message.sender
      (snippet, marks) = ("", [])
      self.rank = rank
      isDirectory = true
    }

    /// Creates a document of which only the name was searched.
    init(_ entry: Entry, rank: Int) {
      path = entry.path
      isDirectory = entry.kind == .directory
      kind = (isDirectory ? .folder : DocumentKind.ofFile(entry.fileName) ?? .other).name
      date = entry.modified
      size = isDirectory ? nil : entry.size
      title = entry.name
      (sender, snippet, marks) = ("", "", [])
      self.rank = rank
    }

    /// The names of the path, from the root.
    package var names: [FileName] { path.names }
  }

  /// The syntax of queries for documents, as the end of a sentence that starts with `A query is`.
  public static var documentSyntax: String { FindQuery.syntax }

  /// Returns the documents below a directory that match a query, the best first.
  ///
  /// Searches names, texts, messages and the contents of archives at any depth, by an index that is brought up to date
  /// before. The first search of a directory reads all of its files, which may take long.
  ///
  /// - Parameters:
  ///   - query: A query as for `ffmount search`, such as `invoice kind:mail date:2024`.
  ///   - path: A real directory. The root by default.
  ///   - snippets: Whether results have snippets, for which their texts are read.
  ///   - progress: Called with the progress of indexing on any thread, several times a second.
  /// - Throws: While it is iterated: `unsupported` for an invalid query, with the reason, and for a directory in a view;
  ///   `notADirectory`, `notFound`. After the last document, if some may match and cannot be read any more: the reason.
  public func documents(
    matching query: String, in path: FilePath = "", snippets: Bool = true,
    progress: @escaping @Sendable (IndexingProgress) -> Void = { _ in }
  ) -> TreeStream<Document> {
    TreeStream(DocumentRows(self, path, query, snippets, progress), of: path, on: bench)
  }

  /// Returns the reason why a query is invalid, as the end of a sentence. Returns `nil` if it is valid.
  package static func objection(to query: String, ofMail: Bool) -> String? {
    do throws(Fault) {
      if ofMail { _ = try Indexing.Query(query) } else { _ = try FindQuery(query) }
      return nil
    } catch { return error.description }
  }

  /// Returns the word of the index that is most similar to a word of the query which the index does not have. Returns
  /// `nil` if there is none.
  ///
  /// - Throws: `unsupported` for an invalid query, with the reason, and for a directory in a view; `notADirectory`,
  ///   `notFound`.
  public func similarWord(for query: String, in path: FilePath = "") async throws(FileTreeError) -> String? {
    try await run(path) { [self] () throws(Fault) in try finder(path).results(FindQuery(query)).suggestion }
  }

  /// Returns the number of files below a directory whose content needs a password. A search finds them by their names
  /// only.
  ///
  /// - Throws: `unsupported` for a directory in a view; `notADirectory`, `notFound`.
  public func lockedFiles(in path: FilePath = "") async throws(FileTreeError) -> Int {
    try await run(path) { [self] () throws(Fault) in try finder(path).locked().count }
  }

  /// The progress of indexing documents.
  public struct IndexingProgress: Sendable, Hashable {
    /// The number of files to read. 0 while they are counted.
    public let files: Int
    /// The size of the files to read, in bytes. 0 while they are counted.
    public let bytes: Int64
    /// The number of files that have been read.
    public let filesDone: Int
    /// The size of the files that have been read, in bytes.
    public let bytesDone: Int64
    /// The number of files and directories of which a part could not be read.
    public let failures: Int
    /// Whether all files are indexed.
    public let isDone: Bool

    fileprivate static let done = IndexingProgress(isDone: true)

    private init(isDone: Bool) {
      (files, bytes, filesDone, bytesDone, failures) = (0, 0, 0, 0, 0)
      self.isDone = isDone
    }

    init(_ progress: FolderCrawl.Progress?) {
      let progress = progress ?? FolderCrawl.Progress()
      files = progress.files
      bytes = progress.bytes
      filesDone = progress.filesDone
      bytesDone = progress.bytesDone
      failures = progress.failures
      isDone = progress.isDone && progress.fault == nil
    }
  }

  /// A part of the work of indexing, for several processes or machines.
  public struct IndexPart: Sendable, Hashable {
    /// The number of the part, from 1.
    public let number: Int
    /// The number of all parts, at most 4096.
    public let count: Int

    /// Returns `nil` unless `number` is from 1 through `count`.
    public init?(_ number: Int, of count: Int) {
      guard (1...DocumentParts.most).contains(count), (1...count).contains(number) else { return nil }
      (self.number, self.count) = (number, count)
    }
  }

  /// Indexes all documents below a directory, so that later searches are fast.
  ///
  /// - Parameters:
  ///   - path: A real directory. The root by default.
  ///   - recognizesText: Whether text in pictures and scans is recognized, which takes seconds a page.
  ///   - jobs: The maximum number of files that are read at a time. `nil` for one per processor.
  ///   - part: The part of the files to index. Searches use all parts that are there. With `Options.sharedCache`, the
  ///     finished part is copied to that directory. `nil` for all files.
  ///   - progress: Called with the progress on any thread, several times a second.
  /// - Throws: `unsupported` for a directory in a view, or if the index cannot be written; `notADirectory`, `notFound`.
  @discardableResult
  public func indexDocuments(
    in path: FilePath = "", recognizesText: Bool = false, jobs: Int? = nil, part: IndexPart? = nil,
    progress: @escaping @Sendable (IndexingProgress) -> Void = { _ in }
  ) async throws(FileTreeError) -> IndexingProgress {
    try await run(path) { [self] () throws(Fault) in
      let finder = try finder(path, recognizesText: recognizesText, part: part)
      let reach = try update(finder, jobs: jobs, isWaiting: true, progress)
      // Merging the words rewrites the index.
      if part != nil || reach.map({ $0.files > $0.unchanged / 20 }) ?? false { finder.optimize() }
      if part != nil, let shared = sharedCache, !finder.publish(to: shared) {
        throw Fault(
          .unsupported, "its part cannot be copied to \(shared) (check its permissions, and the room on its disk)")
      }
      return IndexingProgress(reach)
    }
  }

  /// Returns the finder of a directory. Blocks.
  func finder(
    _ path: FilePath, recognizesText: Bool = false, part: IndexPart? = nil
  ) throws(Fault) -> FolderFinder {
    let place = try place(path)
    guard place.attributes.kind == .folder else { throw .notFolder }
    guard source.isFolder else { throw Fault(.unsupported, "it is not a real folder") }
    do throws(Fault) {
      guard let searches else { throw .noDocumentIndex }
      return try searches.finder(
        place.names, recognizesText: recognizesText, part: part.map { ($0.number - 1, $0.count) })
    } catch {
      guard error == .noDocumentIndex else { throw error }
      throw Fault(.unsupported, "its index cannot be stored (check the cache folder, and the room on its disk)")
    }
  }

  /// Brings an index up to date. Returns `nil` if another process does that already and the call does not wait for it.
  /// Blocks.
  func update(
    _ finder: FolderFinder, jobs: Int? = nil, isWaiting: Bool, isQuick: Bool = false,
    _ progress: @escaping @Sendable (IndexingProgress) -> Void
  ) throws(Fault) -> FolderCrawl.Progress? {
    if let percent = finder.publishedPercent {
      if percent == 100 { progress(.done) }
      return nil
    }
    var held = finder.crawl()
    while held == nil, isWaiting {
      try CancellationToken.check()
      _ = Monitor(false).take(within: .milliseconds(200)) { _ -> Void? in nil }
      held = finder.crawl()
    }
    guard let (crawl, lock) = held else { return nil }
    defer { withExtendedLifetime(lock) {} }
    let isDone = Monitor(false)
    let runner = ThreadPool(atMost: 1)
    defer { runner.stop() }
    runner.submit {
      crawl.run(atATime: jobs ?? Self.processors, isQuick: isQuick)
      isDone.update { $0 = true }
    }
    while true {
      if isDone.take(within: .milliseconds(100), { $0 ? () : nil }) != nil { break }
      progress(IndexingProgress(crawl.reach))
      do throws(Fault) { try CancellationToken.check() } catch {
        crawl.stop()
        try? isDone.wait { $0 ? () : nil }
        throw error
      }
    }
    let reach = crawl.reach
    progress(IndexingProgress(reach))
    if let fault = reach.fault { throw fault }
    return reach
  }
}

private struct DocumentRows: Producer {
  private let tree: FileTree
  private let path: FilePath
  private let text: String
  private let snippets: Bool
  private let progress: @Sendable (FileTree.IndexingProgress) -> Void
  private var state: Search?
  private var place = 0
  private var rank = 0

  private struct Search {
    let finder: FolderFinder
    let query: FindQuery
    let numbers: [UInt64]
    let names: [FileName]
    /// The documents that may match and cannot be read.
    let unread: UnreadDocuments
    /// The number of replacements of the index that the numbers are of.
    let replacements: Int
  }

  private static let atATime = 20
  /// The maximum number of attempts, of which each but the last finds a damaged index.
  private static let attemptsAtMost = 3
  private var attempts = 0

  init(
    _ tree: FileTree, _ path: FilePath, _ text: String, _ snippets: Bool,
    _ progress: @escaping @Sendable (FileTree.IndexingProgress) -> Void
  ) {
    (self.tree, self.path, self.text, self.snippets, self.progress) = (tree, path, text, snippets, progress)
  }

  mutating func next() throws(Fault) -> [FileTree.Document]? {
    let state: Search
    if let known = self.state { state = known } else { state = try search() }
    self.state = state
    var hits: [FileTree.Document] = []
    while place < state.numbers.count, hits.count < Self.atATime {
      try CancellationToken.check()
      let hit = try state.finder.hit(state.numbers[place], state.query, withSnippet: snippets, state.unread)
      if let hit {
        rank += 1
        hits.append(FileTree.Document(hit, rank: rank, in: FilePath(state.names)))
      }
      place += 1
    }
    if state.finder.replacements != state.replacements {
      // The rest is lost. Results that have been returned cannot be taken back.
      guard rank == hits.count, attempts < Self.attemptsAtMost else {
        throw Fault(.changed, "its index was damaged and is made again (search again)")
      }
      (self.state, place, rank) = (nil, 0, 0)
      return try next()
    }
    if hits.isEmpty, let fault = state.unread.fault { throw fault }
    return hits.isEmpty ? nil : hits
  }

  /// Brings the index up to date and finds the documents. A damaged index is made again.
  private mutating func search() throws(Fault) -> Search {
    let query = try FindQuery(text)
    while true {
      let finder = try tree.finder(path)
      let before = finder.replacements
      attempts += 1
      do throws(Fault) {
        _ = try tree.update(finder, isWaiting: true, isQuick: true, progress)
        let unread = UnreadDocuments()
        let numbers = try finder.results(query, unread).numbers
        // An update that finds the index damaged continues with an empty one.
        if finder.replacements == before || attempts >= Self.attemptsAtMost {
          return Search(
            finder: finder, query: query, numbers: numbers, names: path.names, unread: unread, replacements: before)
        }
      } catch {
        guard finder.replacements != before, attempts < Self.attemptsAtMost else { throw error }
      }
    }
  }
}
