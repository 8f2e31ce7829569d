internal import Conversion
internal import Documents
internal import Images
internal import JobFiles
internal import Rendering
internal import Sandbox
internal import Workshop

/// Runs every kind of job.
struct Workbench: Bench {
  private var paged = OpenDocuments<PagedDocument>()
  private var rendered = OpenDocuments<RenderedDocument>()
  static let folders = Sandbox.sharedFolders
  var openDocuments: Int { paged.count + rendered.count }

  mutating func perform(_ order: JobOrder) throws(JobFailure) -> JobAnswer.Outcome {
    if case .findPasswords(let isBundle) = order.job.work {
      var search = PasswordSearch(order.job.passwords)
      // A file that cannot be opened needs no password.
      try order.forEachInput(ofBundle: isBundle) { search.add($0) }
      return search.outcome
    }
    guard case .make(let recipe) = order.job.work, let output = order.output else {
      return try .done(Int64(pages(of: order).countPages()), remark: "")
    }
    var remark: String?
    switch recipe {
    case .pages(let selection): try pages(of: order).write(selection, to: output)
    case .text:
      let input = try order.input()
      try ReadDocument(input, Passphrase.opening(input, among: order.job.passwords)).write(to: output)
    case .image(let format, let changes): try makeImage(of: order, format, changes, output)
    case .compressed(let resolution, let quality):
      let document = CompressedDocument(
        try order.input(), order.job.passwords, resolution: resolution, quality: quality, VipsLibrary())
      remark = try document.write(to: output)
    case .merged: try merge(order, output)
    }
    return try .done(output.size(), remark: remark ?? "")
  }

  mutating func closeOne() -> Bool { rendered.closeOne() || paged.closeOne() }

  private mutating func pages(of order: JobOrder) throws(JobFailure) -> PagedDocument {
    try paged.document(order.job.document) { () throws(JobFailure) in
      try PagedDocument(order.input(), order.job.passwords)
    }
  }

  private mutating func makeImage(
    of order: JobOrder, _ format: ImageFormat, _ changes: ImageChanges, _ output: JobOutput
  ) throws(JobFailure) {
    let input = try order.input()
    guard input.isPDF else {
      guard format == .pdf else { return try ImageWork.convert(input, to: format, changes, output) }
      return try PicturePages.write(to: output) { (pages) throws(JobFailure) in
        try Workbench.add(input, changes, to: pages)
      }
    }
    guard format != .pdf else { throw JobFailure(.unsupported, "is a PDF already") }
    let document = try rendered.document(order.job.document) { () throws(JobFailure) in
      try RenderedDocument(input, Passphrase.opening(input, among: order.job.passwords))
    }
    let raster = try document.paintFirstPage { width, height in
      changes.resolution(forPageOf: width, height)
    }
    try unsafe ImageWork(
      rgb: raster.bytes, width: raster.width, height: raster.height, density: raster.density, keeping: raster,
      to: format, changes
    ).write(to: output)
  }

  /// Adds all images of a file that get their own page.
  private static func add(_ input: JobInput, _ changes: ImageChanges, to pages: PicturePages) throws(JobFailure) {
    try PageImage.forEach(of: input, changes) { (image) throws(JobFailure) in
      if let data = image.data {
        try unsafe pages.add(image.form, data.span.bytes)
      } else {
        try unsafe pages.add(image.form, input.bytes.bytes)
      }
    }
  }

  private func merge(_ order: JobOrder, _ output: JobOutput) throws(JobFailure) {
    let passwords = order.job.passwords
    var protection = CommonProtection()
    try order.forEachMember { (name, open) throws(JobFailure) in
      do throws(JobFailure) { try protection.add(open(), passwords, named: name) } catch { throw error.about(name) }
    }
    let document = MergedDocument(to: output, protection)
    try order.forEachMember { (name, open) throws(JobFailure) in
      do throws(JobFailure) {
        let input = try open()
        if input.isPDF { return try document.add(input, passwords, named: name) }
        try document.add(named: name) { (pages) throws(JobFailure) in
          try Workbench.add(input, ImageChanges(), to: pages)
        }
      } catch { throw error.about(name) }
    }
    try document.finish()
  }
}

extension ImageChanges {
  /// The pixels per inch for a page of a size in inches: as requested, so that it gets the requested size, or 150; less
  /// for a page that would be too large.
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

extension JobFailure {
  /// The failure with the name of one of several files.
  fileprivate func about(_ name: String) -> JobFailure {
    // A system failure is not the file's fault.
    failure == .system || failure == .limit
      ? JobFailure(failure, "\(reason) (at \(name))") : JobFailure(failure, "\(name) \(reason)")
  }
}
