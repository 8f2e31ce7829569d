/// The documents that were used last, newest first: the next job is often on one of them.
public struct OpenDocuments<Document> {
  private var open: [(number: UInt64, document: Document)] = []

  /// More would be kept open for nobody: one reader goes through one document.
  private static var most: Int { 2 }

  public init() {}

  public var count: Int { open.count }

  /// The document of this number, opened when it is not; 0 is for a document that nobody asks for again.
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

  /// Closes the one that was not used for longest; false when none is open.
  public mutating func closeOne() -> Bool { open.popLast() != nil }
}
