package import Bytes
internal import FindViews
internal import MailViews
public import SystemPackage
package import Tree

extension FileTree {
  /// A part of the documents that match a query.
  public struct FoundDocuments: Sendable, Hashable {
    /// The documents of this part. Their ranks continue those of the part before.
    public let documents: [Document]
    /// The total number of documents. `nil` if that is not known without reading them, as with phrases.
    public let count: Int?
    /// The `start` of the next part. `nil` after the last one.
    public let next: Int?
    /// The percentage of the files that has been searched. Below 100, documents may be missing.
    public let percent: Int
    /// Whether everything has been searched, and this is the last part.
    public let isComplete: Bool
    /// The number of files, which match or not, whose content needs a password. They are found by their names only.
    public let lockedFiles: Int
    /// The number of documents that may match and cannot be read any more, as far as they are known from this part.
    public let unreadDocuments: Int
    /// A word that the index has, similar to one of the query that it does not have. `nil` if there is none.
    public let similarWord: String?
  }

  /// Returns a part of the documents below a directory that match a query, the best first, after a limited time.
  ///
  /// This is the search of programs that show results at once and the rest on demand. It uses the index of the whole
  /// tree. If that is not up to date in time, its update continues, and the part has what has been searched so far. If
  /// nothing matches, the documents are files and directories whose names contain all words of the query. In a mailbox,
  /// the documents are the messages of `messages(matching:in:)`.
  ///
  /// - Parameters:
  ///   - query: A query as for `ffmount search`, such as `invoice kind:mail date:2024`.
  ///   - path: A directory, which may be in an archive, or a mailbox. The root by default.
  ///   - start: The `next` of the part before. 0 for the first part.
  ///   - count: The maximum number of documents.
  ///   - limit: The maximum time to wait for the index. Reading texts and names may take five seconds more.
  /// - Throws: `unsupported` for an invalid query, with the reason; `notADirectory`, `notFound`.
  public func documents(
    matching query: String, in path: FilePath = "", from start: Int, atMost count: Int,
    within limit: Duration = .seconds(10)
  ) async throws(FileTreeError) -> FoundDocuments {
    try await run(path) { [self] () throws(Fault) in
      try foundDocuments(query, in: path.names, from: start, atMost: count, within: limit)
    }
  }

  /// The maximum time to read texts or names.
  private static let readingTime = Duration.seconds(5)

  /// Returns a part of the documents below a directory, or of the messages in a mailbox. Blocks.
  package func foundDocuments(
    _ query: String, in path: [FileName], from start: Int, atMost count: Int, within limit: Duration
  ) throws(Fault) -> FoundDocuments {
    let start = max(0, start)
    let place = try self.place(path)
    let isFolder = place.attributes.kind == .folder
    let found = isFolder ? try page(query, below: place.names, from: start, atMost: count, within: limit) : nil
    if found == nil {
      if let mail = try mail(at: place) {
        return try foundMessages(query, mail, in: place.names, from: start, atMost: count, within: limit)
      }
      guard isFolder else { throw .notFolder }
    }
    var documents = (found?.hits ?? []).enumerated().map { Document($1, rank: start + $0 + 1, in: "") }
    let (percent, locked) = (found?.percent ?? 100, found?.locked.count ?? 0)
    let unread = found?.unread.count ?? 0
    guard start == 0, found?.next == nil, documents.isEmpty else {
      return FoundDocuments(
        documents: documents, count: found?.count, next: found?.next, percent: percent,
        isComplete: percent == 100 && found?.next == nil && unread == 0, lockedFiles: locked, unreadDocuments: unread,
        similarWord: found?.suggestion)
    }
    var names = FoundNames(self, FilePath(place.names), query, within: Self.readingTime)
    var hasMore = false
    while !hasMore, let entries = try names.next() {
      let room = count - documents.count
      for entry in entries.prefix(room) { documents.append(Document(entry, rank: documents.count + 1)) }
      hasMore = entries.count > room
    }
    return FoundDocuments(
      documents: documents, count: documents.count, next: nil, percent: percent,
      isComplete: percent == 100 && names.isComplete && !hasMore && unread == 0, lockedFiles: locked,
      unreadDocuments: unread, similarWord: found?.suggestion)
  }

  /// Returns a part of the documents in the index. Returns `nil` if the tree has no index.
  private func page(
    _ query: String, below path: [FileName], from start: Int, atMost count: Int, within limit: Duration
  ) throws(Fault) -> FoundPage? {
    let query = try FindQuery(query)
    do throws(Fault) {
      return try searches?.page(
        of: query, below: path, from: start, atMost: count, within: limit, until: .now + limit + Self.readingTime)
    } catch {
      guard error == .noDocumentIndex else { throw error }
      return FoundPage(hits: [], count: 0, next: nil, percent: 0, suggestion: nil)
    }
  }

  private func foundMessages(
    _ query: String, _ mail: MailSearch, in path: [FileName], from start: Int, atMost count: Int, within limit: Duration
  ) throws(Fault) -> FoundDocuments {
    var rows = try FoundMessages(mail, Indexing.Query(query), in: path, from: start, within: limit)
    let messages = try rows.next(atMost: count) ?? []
    return FoundDocuments(
      documents: messages.enumerated().map { Document($1, rank: start + $0 + 1) }, count: rows.count,
      next: rows.number < rows.count ? rows.number : nil, percent: rows.isComplete ? 100 : 99,
      isComplete: rows.isComplete && rows.number >= rows.count, lockedFiles: 0, unreadDocuments: 0,
      similarWord: nil)
  }
}

extension Tree {
  /// Keeps the index for searches up to date from now on, while the machine is idle.
  package func indexWhileIdle() { searches?.indexWhileIdle() }
}
