internal import Catalogue
internal import Documents
internal import Images
internal import Rendering
internal import WorkerKit

/// Converts images to images and PDFs, and first pages of PDFs to images.
struct ImageHandler: JobHandler {
  static let verbs = ImageFormat.allCases.map(\.rawValue)
  private var rendered = OpenDocuments<RenderedDocument>()
  var openDocuments: Int { rendered.count }

  mutating func perform(_ recipe: Recipe, _ order: JobOrder, to output: JobOutput) throws(JobFailure) -> String {
    guard let format = ImageFormat(rawValue: recipe.verb),
      let changes = recipe.arguments.flatMap({ ImageChanges($0[...]) })
    else { throw .unknown }
    return try makeImage(of: order, format, changes, output)
  }

  mutating func closeOne() -> Bool { rendered.closeOne() }

  private mutating func makeImage(
    of order: JobOrder, _ format: ImageFormat, _ changes: ImageChanges, _ output: JobOutput
  ) throws(JobFailure) -> String {
    let input = try order.input()
    guard input.isPDF else {
      guard format == .pdf else { return try ImageWork.convert(input, to: format, changes, output) }
      guard changes.thousands == nil else {
        throw JobFailure(
          .unsupported, "cannot be converted to a PDF of a given size; .compressed.pdf makes PDFs smaller")
      }
      try PicturePages.write(to: output) { (pages) throws(JobFailure) in
        try pages.addAll(of: input, changes)
      }
      return ""
    }
    guard format != .pdf else { throw JobFailure(.unsupported, "is already a PDF") }
    try ReducedProgram.requireLibraries()
    let document = try rendered.document(order.job.document) { () throws(JobFailure) in
      try RenderedDocument.open(input, among: order.job.passwords)
    }
    let raster = try document.paint { width, height in
      changes.resolution(forPageOf: width, height)
    }
    let damage = document.isIncomplete ? UnreadablePages.remark(onIncomplete: 0) : ""
    let remark = try unsafe ImageWork(
      rgb: raster.bytes, width: raster.width, height: raster.height, density: raster.density, keeping: raster,
      to: format, changes
    ).write(to: output)
    return [remark, damage].filter { !$0.isEmpty }.joined(separator: "; ")
  }
}

extension ImageChanges {
  /// Returns the pixels per inch for a page of a size in inches. The page gets the requested size, or 150 pixels per
  /// inch, or fewer if it would be too large.
  fileprivate func resolution(forPageOf width: Double, _ height: Double) -> Double {
    if let resolution { return Double(resolution) }
    let usual =
      switch size {
      case .longestSide(let side): Double(side) / max(width, height)
      case .within(let most, let highest): min(Double(most) / width, Double(highest) / height)
      case .percent, nil: 150.0
      }
    guard size == nil else { return usual }
    let most = min(
      Double(Raster.longestSide) / max(width, height), (Double(Raster.mostPixels) / width / height).squareRoot())
    return min(usual, most * 0.99)
  }
}
