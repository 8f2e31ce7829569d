public import JobFiles

/// A document of one page, which a picture fills.
public struct PicturePage {
  private let form: PictureForm

  public init(_ form: PictureForm) { self.form = form }

  /// - Parameter data: the coded pixels.
  public func write(_ data: RawSpan, to output: JobOutput) throws(JobFailure) {
    let writer = PDFWriter(to: output, version: "1.7")
    let (catalog, pages, page) = (writer.reserve(), writer.reserve(), writer.reserve())
    try writer.write(catalog, Array("<< /Type /Catalog /Pages \(pages) 0 R >>".utf8))
    try writer.write(pages, Array("<< /Type /Pages /Count 1 /Kids [ \(page) 0 R ] >>".utf8))
    try write(data, to: writer, page: page, below: pages)
    try writer.finish(catalog: catalog)
  }

  /// Writes the page number `page` below a node of the page tree.
  func write(_ data: RawSpan, to writer: PDFWriter, page: Int, below node: Int) throws(JobFailure) {
    let (w, h) = (points(form.width), points(form.height))
    let (contents, image) = (writer.reserve(), writer.reserve())
    try writer.write(
      page,
      Array(
        """
        << /Type /Page /Parent \(node) 0 R /MediaBox [ 0 0 \(w) \(h) ] /Contents \(contents) 0 R \
        /Resources << /XObject << /Image \(image) 0 R >> >> >>
        """.utf8))
    let drawing = Array("q \(matrix(w, h)) cm /Image Do Q".utf8)
    try unsafe writer.write(contents, dictionary: Array("<< >>".utf8), stream: drawing.span.bytes)
    var colours = [1: "/DeviceGray", 4: "/DeviceCMYK"][form.components] ?? "/DeviceRGB"
    if let profile = form.profile {
      let number = writer.reserve()
      let dictionary = Array("<< /N \(form.components) /Alternate \(colours) >>".utf8)
      try unsafe writer.write(number, dictionary: dictionary, stream: profile.span.bytes)
      colours = "[ /ICCBased \(number) 0 R ]"
    }
    try writer.write(
      image, dictionary: Array("<< /Type /XObject /Subtype /Image \(form.coding) /ColorSpace \(colours) >>".utf8),
      stream: data)
  }

  /// Hundredths are finer than anybody sees.
  private func points(_ pixels: Int) -> Double { (Double(pixels) / form.density * 7200).rounded() / 100 }

  /// From the unit square, in which an image's top is at 1, to a page of this size.
  private func matrix(_ w: Double, _ h: Double) -> String {
    switch form.orientation {
    case 2: "-\(w) 0 0 \(h) \(w) 0"
    case 3: "-\(w) 0 0 -\(h) \(w) \(h)"
    case 4: "\(w) 0 0 -\(h) 0 \(h)"
    case 5: "0 -\(h) -\(w) 0 \(w) \(h)"
    case 6: "0 -\(h) \(w) 0 0 \(h)"
    case 7: "0 \(h) \(w) 0 0 0"
    case 8: "0 \(h) -\(w) 0 \(w) 0"
    default: "\(w) 0 0 \(h) 0 0"
    }
  }
}
