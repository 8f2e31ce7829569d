internal import CPosix
internal import Conversion
internal import Documents
internal import Glibc
internal import Images
internal import JobFiles

/// Does one job after the other, and keeps the last documents open for the next page.
struct Workbench {
  /// Those used last, newest first.
  private var paged: [(document: UInt64, pages: PagedDocument)] = []

  /// More would be kept open for nobody: one reader goes through one document.
  private static let mostOpen = 2
  /// What documents may keep between two jobs.
  private static let keptMemory = 256 << 20

  mutating func answer(_ order: JobSocket.Order) -> JobAnswer {
    let outcome: JobAnswer.Outcome
    do throws(JobFailure) {
      let (value, remark) = try perform(order)
      outcome = .done(value, remark: remark ?? "")
    } catch { outcome = .failed(error.failure, reason: error.reason) }
    if ffmount_heap() > Workbench.keptMemory {
      paged = []
      ffmount_trim_heap()
    }
    return JobAnswer(number: order.job.number, outcome: outcome)
  }

  /// The answer's number, and what there is to be said of it.
  private mutating func perform(_ order: JobSocket.Order) throws(JobFailure) -> (Int64, remark: String?) {
    defer { close(order.input) }
    let job = order.job
    let output = order.output.map { JobOutput(descriptor: $0, limit: job.outputLimit) }
    guard case .make(let recipe) = job.work, let output else {
      return (try Int64(pages(of: order).countPages()), nil)
    }
    var remark: String?
    switch recipe {
    case .pages(let selection): try pages(of: order).write(selection, to: output)
    case .text: try RenderedDocument(input(of: order)).writeText(to: output)
    case .image(let format, let changes): try makeImage(of: order, format, changes, output)
    case .compressed(let resolution, let quality):
      let document = CompressedDocument(
        try input(of: order), resolution: resolution, quality: quality, VipsLibrary())
      remark = try document.write(to: output)
    }
    return (try output.size(), remark)
  }

  private func makeImage(
    of order: JobSocket.Order, _ format: ImageFormat, _ changes: ImageChanges, _ output: JobOutput
  ) throws(JobFailure) {
    let input = try input(of: order)
    guard input.isPDF else {
      if format == .pdf { return try makePage(of: input, changes, output) }
      return try ImageWork(input, to: format, changes).write(to: output)
    }
    guard format != .pdf else { throw JobFailure(.unsupported, "is a PDF already") }
    let raster = try RenderedDocument(input).paintFirstPage { width, height in
      changes.resolution(forPageOf: width, height)
    }
    try unsafe ImageWork(
      rgb: raster.bytes, width: raster.width, height: raster.height, density: raster.density, keeping: raster,
      to: format, changes
    ).write(to: output)
  }

  private func makePage(of input: JobInput, _ changes: ImageChanges, _ output: JobOutput) throws(JobFailure) {
    let image = try PageImage(input, changes)
    let page = PicturePage(
      width: image.width, height: image.height, density: image.density, orientation: image.orientation,
      coding: image.coding, components: image.components, profile: image.profile)
    if let data = image.data {
      try unsafe page.write(data.span.bytes, to: output)
    } else {
      try unsafe page.write(input.bytes.bytes, to: output)
    }
  }

  private func input(of order: JobSocket.Order) throws(JobFailure) -> JobInput {
    try JobInput(descriptor: order.input, offset: order.job.start, size: order.job.size)
  }

  private mutating func pages(of order: JobSocket.Order) throws(JobFailure) -> PagedDocument {
    let document = order.job.document
    guard document != 0 else { return try PagedDocument(input(of: order)) }
    let known = paged.firstIndex { $0.document == document }
    let open =
      if let known { paged.remove(at: known).pages } else { try PagedDocument(input(of: order)) }
    paged.insert((document, open), at: 0)
    if paged.count > Workbench.mostOpen { paged.removeLast() }
    return open
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
