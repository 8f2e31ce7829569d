internal import Catalogue
internal import Documents
internal import Images
internal import Pixels
internal import Rendering
internal import WorkerKit

/// An image file or a PDF, page by page as pixels.
struct PagedInput {
  private let input: JobInput
  private let passwords: [[UInt8]]

  /// The density of painted PDF pages, in pixels per inch. Very large pages get fewer.
  private static let density = 300.0
  private static let mostPixels = 40_000_000.0

  init(_ input: JobInput, _ passwords: [[UInt8]]) {
    (self.input, self.passwords) = (input, passwords)
  }

  /// Calls `body` with the number of each page, from 0, and a function that paints it.
  func forEachPage(
    _ body: (_ index: Int, _ picture: () throws(JobFailure) -> PagePixels) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    guard input.isPDF else {
      for index in 0..<(try PagePixels.count(in: input)) {
        try body(index) { () throws(JobFailure) in try PagePixels(page: index, of: input) }
      }
      return
    }
    let document = try RenderedDocument.open(input, among: passwords)
    guard document.pageCount > 0 else { throw JobFailure(.damaged, "has no readable pages") }
    for index in 0..<document.pageCount {
      try body(index) { () throws(JobFailure) in try PagedInput.page(index, of: document) }
    }
  }

  /// Returns a page of a PDF as it is shown.
  static func page(_ index: Int, of document: RenderedDocument) throws(JobFailure) -> PagePixels {
    let raster = try document.paint(page: index) { width, height in
      min(density, (mostPixels / (width * height)).squareRoot())
    }
    let samples = withExtendedLifetime(raster) {
      unsafe Samples(width: raster.width, height: raster.height, bands: 3, bytes: Array(raster.bytes))
    }
    guard let samples else { throw JobFailure.noMemory() }
    return PagePixels(samples: samples, density: raster.density)
  }
}
