package import Bytes

/// A part of the documents that match a query.
package struct FoundPage: Sendable {
  package let hits: [FolderFinder.Hit]
  /// The total number of documents that match. `nil` if that is not known without reading them.
  package let count: Int?
  /// The `start` of the next part. `nil` after the last one.
  package let next: Int?
  /// The percentage that is searched. `nil` if everything is.
  package let percent: Int?
  /// A query with a known word, if nothing matches. `nil` if there is none.
  package let suggestion: String?
  /// The files of which only the names are searched, whether they match or not.
  package let locked: FolderFinder.Locked
  /// The documents that may match and cannot be read.
  package let unread: UnreadDocuments
  /// The reason why the index could not be brought up to date. `nil` if it could.
  let obstacle: Fault?

  package init(
    hits: [FolderFinder.Hit], count: Int?, next: Int?, percent: Int?, suggestion: String?,
    locked: FolderFinder.Locked = FolderFinder.Locked(), unread: UnreadDocuments = UnreadDocuments(),
    obstacle: Fault? = nil
  ) {
    (self.hits, self.count, self.next, self.percent, self.suggestion) = (hits, count, next, percent, suggestion)
    (self.locked, self.unread, self.obstacle) = (locked, unread, obstacle)
  }
}
