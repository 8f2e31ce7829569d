internal import Catalogue
internal import WorkerKit

/// The images of a file that are independent of each other: the pages of a TIFF, or the single image of any other
/// format.
struct ImagePages {
  private let input: JobInput
  private let tiff: TIFFFile?

  init(_ input: JobInput) {
    self.input = input
    tiff = TIFFFile(input)
  }

  /// Returns the number of pages. Throws if there are more pages that cannot be found.
  func count() throws(JobFailure) -> Int {
    guard let tiff, !tiff.isRawPhoto else { return 1 }
    if let damage = tiff.damage { throw damage }
    return tiff.pages.count
  }

  /// Returns the result of `body` for a page. Errors name the page.
  func make<Result>(
    of index: Int, _ body: (JobInput, TIFFFile.Selection?) throws(JobFailure) -> Result
  ) throws(JobFailure) -> Result {
    do throws(JobFailure) { return try body(input, tiff?.page(at: index)) } catch {
      guard index > 0 else { throw error }
      throw JobFailure(error.failure, "\(error.reason) (on page \(index + 1))")
    }
  }
}
