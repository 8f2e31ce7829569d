internal import Catalogue

/// The pages of a damaged document that cannot be read, while others can.
public struct UnreadablePages {
  private var count = 0
  private var first: (index: Int, failure: JobFailure)?
  private var unreadable = 0
  private var incomplete: (count: Int, first: Int) = (0, 0)

  public init() {}

  /// Returns the result of `body`, or `nil` if the page is damaged. Must be called for each page of the document.
  public mutating func read<Result>(
    _ index: Int, _ body: () throws(JobFailure) -> Result
  ) throws(JobFailure) -> Result? {
    count += 1
    do throws(JobFailure) { return try body() } catch {
      guard error.failure == .damaged else { throw error }
      first = first ?? (index, error)
      unreadable += 1
      return nil
    }
  }

  /// Records that a page has been read in part.
  public mutating func noteIncomplete(_ index: Int) {
    incomplete = (incomplete.count + 1, incomplete.count == 0 ? index : incomplete.first)
  }

  /// Returns a remark on the lost pages, as the end of a sentence. Empty if all pages could be read. Throws if none
  /// could.
  public func remark() throws(JobFailure) -> String {
    guard count > 0 else { throw JobFailure(.damaged, "has no readable pages") }
    if let first, unreadable == count { throw first.failure }
    let remarks = [
      first.map { Self.remark(unreadable, $0.index, "cannot be read") },
      incomplete.count > 0 ? Self.remark(incomplete.count, incomplete.first, Self.partly) : nil,
    ]
    let found = remarks.compactMap(\.self)
    return found.isEmpty ? "" : JobAnswer.loss("is damaged: \(found.joined(separator: "; "))")
  }

  /// Returns a remark on one page that has been read in part.
  public static func remark(onIncomplete index: Int) -> String {
    JobAnswer.loss("is damaged: \(remark(1, index, partly))")
  }

  private static let partly = "cannot be read completely"

  private static func remark(_ count: Int, _ first: Int, _ what: String) -> String {
    count == 1 ? "page \(first + 1) \(what)" : "\(count) pages \(what), the first is page \(first + 1)"
  }
}
