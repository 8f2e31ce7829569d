/// The most recently used documents, newest first. The next job often uses one of them.
public struct OpenDocuments<Document> {
  private var open: [(number: UInt64, document: Document)] = []

  /// The maximum number of open documents. More have no use, since one reader goes through one document.
  private static var most: Int { 2 }

  public init() {}

  public var count: Int { open.count }

  /// Returns the document with this number, and opens it if necessary. A document with the number 0 is not kept open.
  public mutating func document<Failure: Error>(
    _ number: UInt64, _ body: () throws(Failure) -> Document
  ) throws(Failure) -> Document {
    if number == 0 { return try body() }
    let known = open.firstIndex { $0.number == number }
    let document = if let known { open.remove(at: known).document } else { try body() }
    open.insert((number, document), at: 0)
    if open.count > Self.most { open.removeLast() }
    return document
  }

  /// Closes the least recently used document. Returns false if none is open.
  public mutating func closeOne() -> Bool { open.popLast() != nil }
}
