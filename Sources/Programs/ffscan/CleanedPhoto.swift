internal import Catalogue
internal import Images
internal import Pixels
internal import Recognition
internal import Scanning
internal import WorkerKit

/// A photo or scan of a page, made a clean page.
struct CleanedPhoto {
  let samples: Samples
  /// The same in black and white, if that is the filter.
  private let bits: Bilevel?
  /// The end of a sentence that starts with the file's name; empty if a page was found.
  let remark: String

  private static let nothingFound = "shows no page that stands out, so all of it was taken"

  /// - Parameter number: of several pages in the photo this one, from 1; nil: the one that it is a photo of.
  init(
    _ photo: PagePixels, _ filter: ScanFilter, page number: Int? = nil, _ recognizer: Recognizer
  ) throws(JobFailure) {
    let found: Quadrilateral?
    if let number {
      let pages = PageFinder.pages(in: photo.samples)
      guard number <= max(1, pages.count) else {
        throw JobFailure(.absent, pages.count > 1 ? "shows \(pages.count) pages only" : "shows one page only")
      }
      found = pages.isEmpty ? nil : pages[number - 1]
    } else {
      found = PageFinder.page(in: photo.samples)
    }
    if let found {
      let page = try PageCleaner.clean(photo.samples, to: found, filter)
      try self.init(page, density: page.dotsPerInch, recognizer)
    } else {
      try self.init(whole: photo, filter, recognizer, remark: Self.nothingFound)
    }
  }

  /// A picture of which all is the page.
  init(whole photo: PagePixels, _ filter: ScanFilter, _ recognizer: Recognizer, remark: String = "") throws(JobFailure)
  {
    let page = try PageCleaner.clean(PageCleaner.deskewed(photo.samples).samples, to: nil, filter)
    try self.init(page, density: photo.scannedDensity ?? page.dotsPerInch, recognizer, remark: remark)
  }

  private init(
    _ page: CleanPage, density: Double, _ recognizer: Recognizer, remark: String = ""
  ) throws(JobFailure) {
    // A picture that cannot be read can be looked at.
    let quarters = (try? recognizer.quartersToTurn(page.samples, density: density)) ?? 0
    let turned = page.samples.turned(quarters)
    samples = turned
    bits = quarters == 0 ? page.bilevel : page.bilevel.flatMap { _ in Bilevel(turned) }
    self.density = density
    self.remark = remark
  }

  /// How many pages there are to be seen, at least one.
  static func count(in photo: PagePixels) -> Int { max(1, PageFinder.pages(in: photo.samples).count) }

  /// Pixels an inch of paper.
  let density: Double

  /// As what a page of a PDF holds.
  func image(_ changes: ImageChanges) throws(JobFailure) -> PageImage {
    // Black and white that is scaled would be gray.
    if let bits, changes.size == nil { return PageImage(bits, density: density) }
    return try PageImage(samples, density: density, changes)
  }

  func write(as format: ImageFormat, _ changes: ImageChanges, to output: JobOutput) throws(JobFailure) {
    let depth = format == .png && bits != nil && changes.size == nil ? 1 : 8
    try ImageWork(samples, density: density, to: format, changes, depth: depth).write(to: output)
  }
}

extension PagePixels {
  /// What a scanner says; cameras write a number that means nothing.
  fileprivate var scannedDensity: Double? { density.flatMap { $0 >= 100 ? $0 : nil } }
}
