internal import Catalogue
public import WorkerKit

/// Pages that consist of one picture each, below a node of the page tree.
public final class PicturePages {
  private let writer: PDFWriter
  private let node: Int
  private(set) var numbers: [Int] = []
  private let packing: JPEGPacking
  /// The text over the pictures, if a page has any.
  private var layer: TextLayer?
  /// The last picture's color profile, and the number of its object.
  private var profile: (bytes: [UInt8], number: Int)?

  init(to writer: PDFWriter, below node: Int) throws(JobFailure) {
    packing = try JPEGPacking()
    self.writer = writer
    self.node = node
  }

  /// Writes a document of the pages that `body` adds.
  public static func write(
    to output: JobOutput, _ body: (PicturePages) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    let writer = PDFWriter(to: output, version: "1.7")
    let (catalog, node) = (writer.reserve(), writer.reserve())
    let pages = try PicturePages(to: writer, below: node)
    try body(pages)
    try pages.layer?.finish()
    try writer.write(catalog, Array("<< /Type /Catalog /Pages \(node) 0 R >>".utf8))
    let kids = pages.numbers.map { "\($0) 0 R" }.joined(separator: " ")
    try writer.write(node, Array("<< /Type /Pages /Count \(pages.numbers.count) /Kids [ \(kids) ] >>".utf8))
    try writer.finish(catalog: catalog)
  }

  /// Adds a page.
  ///
  /// - Parameters:
  ///   - data: the encoded pixels.
  ///   - text: the invisible text over the picture.
  public func add(_ form: PictureForm, _ data: RawSpan, text: [LayerLine] = []) throws(JobFailure) {
    let page = writer.reserve()
    numbers.append(page)
    let (w, h) = (form.points(form.width), form.points(form.height))
    let (contents, image) = (writer.reserve(), writer.reserve())
    var (streams, fonts) = ("\(contents) 0 R", "")
    if let (layer, content) = try write(text, PageFrame(width: w, height: h)) {
      (streams, fonts) = ("[ \(content) 0 R \(streams) ]", " /Font << /Scan \(layer.font) 0 R >>")
    }
    try writer.write(
      page,
      Array(
        """
        << /Type /Page /Parent \(node) 0 R /MediaBox [ 0 0 \(w) \(h) ] /Contents \(streams) \
        /Resources << /XObject << /Image \(image) 0 R >>\(fonts) >> >>
        """.utf8))
    let drawing = Array("q \(form.matrix(w, h)) cm /Image Do Q".utf8)
    try unsafe writer.write(contents, dictionary: Array("<< >>".utf8), stream: drawing.span.bytes)
    var colours = [1: "/DeviceGray", 4: "/DeviceCMYK"][form.components] ?? "/DeviceRGB"
    if let profile = form.profile {
      colours = try "[ /ICCBased \(number(of: profile, form.components, colours)) 0 R ]"
    }
    func dictionary(_ filter: String) -> [UInt8] {
      Array("<< /Type /XObject /Subtype /Image \(form.coding) /Filter \(filter) /ColorSpace \(colours) >>".utf8)
    }
    if form.filter == "/DCTDecode", let packed = packing.packed(data) {
      try unsafe writer.write(image, dictionary: dictionary("[ /FlateDecode /DCTDecode ]"), stream: packed.span.bytes)
    } else {
      try writer.write(image, dictionary: dictionary(form.filter), stream: data)
    }
  }

  private func write(
    _ text: [LayerLine], _ frame: PageFrame
  ) throws(JobFailure) -> (layer: TextLayer, content: Int)? {
    if text.isEmpty { return nil }
    if layer == nil { layer = try TextLayer(to: writer) }
    guard let layer, let content = try layer.write(text, in: frame, font: "/Scan") else { return nil }
    return (layer, content)
  }

  /// Returns the object number of a color profile. Pages of one file usually have the same profile.
  private func number(of profile: [UInt8], _ components: Int, _ colours: String) throws(JobFailure) -> Int {
    if let known = self.profile, known.bytes == profile { return known.number }
    let number = writer.reserve()
    let dictionary = Array("<< /N \(components) /Alternate \(colours) >>".utf8)
    try unsafe writer.write(number, dictionary: dictionary, stream: profile.span.bytes)
    self.profile = (profile, number)
    return number
  }
}

extension PictureForm {
  /// Converts pixels to points, rounded to hundredths. That is finer than visible.
  fileprivate func points(_ pixels: Int) -> Double { (Double(pixels) / density * 7200).rounded() / 100 }

  /// Returns the matrix from the unit square, whose top is at 1, to a page of this size.
  fileprivate func matrix(_ w: Double, _ h: Double) -> String {
    switch orientation {
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
