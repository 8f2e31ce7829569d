internal import Catalogue

/// The pages of a damaged document that cannot be read, while others can.
public struct UnreadablePages {
  private var count = 0
  private var first: (index: Int, failure: JobFailure)?
  private var unreadable = 0

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

  /// Returns the end of a sentence that starts with the file's name. Empty if all pages could be read. Throws if none
  /// could.
  public func remark() throws(JobFailure) -> String {
    guard count > 0 else { throw JobFailure(.damaged, "has no readable pages") }
    guard let first else { return "" }
    if unreadable == count { throw first.failure }
    return unreadable == 1
      ? "is damaged: page \(first.index + 1) cannot be read"
      : "is damaged: \(unreadable) pages cannot be read, the first is page \(first.index + 1)"
  }
}
