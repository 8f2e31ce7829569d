public import JobFiles

/// The documents used last: their next page takes a fraction of what opening them does.
public struct OpenDocuments {
  /// Newest first.
  private var documents: [(number: UInt64, pages: PagedDocument)] = []

  /// More would be kept open for nobody: one reader goes through one document.
  private static let most = 2

  public init() {}

  /// The document of a number; opened if it is not, and always for 0, which numbers none.
  public mutating func document(
    _ number: UInt64, of input: () throws(JobFailure) -> JobInput
  ) throws(JobFailure) -> PagedDocument {
    guard number != 0 else { return try PagedDocument(input()) }
    let known = documents.firstIndex { $0.number == number }
    let open = if let known { documents.remove(at: known).pages } else { try PagedDocument(input()) }
    documents.insert((number, open), at: 0)
    if documents.count > Self.most { documents.removeLast() }
    return open
  }

  public mutating func removeAll() { documents = [] }
}
