internal import Conversion
internal import Documents
internal import Images
internal import JobFiles
internal import Rendering
internal import Workshop

/// Does every kind of job.
struct Workbench: Bench {
  private var paged = OpenDocuments<PagedDocument>()
  private var rendered = OpenDocuments<RenderedDocument>()

  mutating func perform(_ order: JobOrder) throws(JobFailure) -> Int64 {
    guard case .make(let recipe) = order.job.work, let output = order.output else {
      return try Int64(pages(of: order).countPages())
    }
    switch recipe {
    case .pages(let selection): try pages(of: order).write(selection, to: output)
    case .text: try ReadDocument(order.input()).write(to: output)
    case .image(let format, let changes): try makeImage(of: order, format, changes, output)
    }
    return try output.size()
  }

  mutating func closeOne() -> Bool { rendered.closeOne() || paged.closeOne() }

  private mutating func pages(of order: JobOrder) throws(JobFailure) -> PagedDocument {
    try paged.document(order.job.document) { () throws(JobFailure) in try PagedDocument(order.input()) }
  }

  private mutating func makeImage(
    of order: JobOrder, _ format: ImageFormat, _ changes: ImageChanges, _ output: JobOutput
  ) throws(JobFailure) {
    let input = try order.input()
    guard input.isPDF else {
      if format == .pdf { return try makePage(of: input, changes, output) }
      return try ImageWork(input, to: format, changes).write(to: output)
    }
    guard format != .pdf else { throw JobFailure(.unsupported, "is a PDF already") }
    let document = try rendered.document(order.job.document) { () throws(JobFailure) in try RenderedDocument(input) }
    let raster = try document.paintFirstPage { width, height in
      changes.resolution(forPageOf: width, height)
    }
    try unsafe ImageWork(
      rgb: raster.bytes, width: raster.width, height: raster.height, density: raster.density, keeping: raster,
      to: format, changes
    ).write(to: output)
  }

  private func makePage(of input: JobInput, _ changes: ImageChanges, _ output: JobOutput) throws(JobFailure) {
    let image = try PageImage(input, changes)
    let page = PicturePage(image.form)
    if let data = image.data {
      try unsafe page.write(data.span.bytes, to: output)
    } else {
      try unsafe page.write(input.bytes.bytes, to: output)
    }
  }
}

extension JobInput {
  /// Readers look for the mark among the first bytes.
  fileprivate var isPDF: Bool {
    let mark = Array("%PDF-".utf8)
    let head = unsafe bytes.prefix(1024)
    return unsafe head.indices.contains { unsafe head[$0...].starts(with: mark) }
  }
}

extension ImageChanges {
  /// Pixels an inch for a page of so many inches: as asked for, so that it gets the size that is asked for, or 150; less
  /// for a page that would be too large at that.
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
