internal import Catalogue
public import WorkerKit

/// The damage of a document's pages that other readers pass over.
public final class PageDamage {
  private let document: PagedDocument

  /// - Parameter passwords: candidates for opening the document.
  public init(_ input: JobInput, _ passwords: [[UInt8]]) throws(JobFailure) {
    document = try PagedDocument(input, passwords)
  }

  /// Returns whether all contents of a page can be decoded. Throws if a damaged document has lost them.
  ///
  /// - Parameter index: from 0.
  public func isWhole(page index: Int) throws(JobFailure) -> Bool { try document.isWhole(page: index) }
}
