internal import Catalogue
internal import Images
internal import Pixels
internal import Recognition
internal import Scanning
internal import WorkerKit

/// A photo or scan of a page, converted to a clean page.
struct CleanedPhoto {
  let samples: Samples
  /// The page in black and white, if that is the filter.
  private let bits: Bilevel?
  /// The end of a sentence that starts with the file's name. Empty if a page was found.
  let remark: String

  private static let nothingFound = "shows no distinct page, so the whole picture was used"

  /// - Parameter number: the page to use of several in the photo, from 1. Nil for the most likely page.
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

  /// Creates a page from a whole picture.
  init(whole photo: PagePixels, _ filter: ScanFilter, _ recognizer: Recognizer, remark: String = "") throws(JobFailure)
  {
    let page = try PageCleaner.clean(PageCleaner.deskewed(photo.samples).samples, to: nil, filter)
    try self.init(page, density: photo.scannedDensity ?? page.dotsPerInch, recognizer, remark: remark)
  }

  private init(
    _ page: CleanPage, density: Double, _ recognizer: Recognizer, remark: String = ""
  ) throws(JobFailure) {
    // Text recognition is optional for a picture.
    let quarters = (try? recognizer.quartersToTurn(page.samples, density: density)) ?? 0
    let turned = page.samples.turned(quarters)
    samples = turned
    bits = quarters == 0 ? page.bilevel : page.bilevel.flatMap { _ in Bilevel(turned) }
    self.density = density
    self.remark = remark
  }

  /// Returns the number of pages in a photo, at least one.
  static func count(in photo: PagePixels) -> Int { max(1, PageFinder.pages(in: photo.samples).count) }

  /// The density, in pixels per inch of paper.
  let density: Double

  /// Returns the image of a PDF page.
  func image(_ changes: ImageChanges) throws(JobFailure) -> PageImage {
    // Scaling black and white would produce gray.
    if let bits, changes.size == nil { return PageImage(bits, density: density) }
    return try PageImage(samples, density: density, changes)
  }

  func write(as format: ImageFormat, _ changes: ImageChanges, to output: JobOutput) throws(JobFailure) {
    let depth = format == .png && bits != nil && changes.size == nil ? 1 : 8
    try ImageWork(samples, density: density, to: format, changes, depth: depth).write(to: output)
  }
}

extension PagePixels {
  /// The density recorded by a scanner. Cameras write a meaningless number.
  fileprivate var scannedDensity: Double? { density.flatMap { $0 >= 100 ? $0 : nil } }
}
