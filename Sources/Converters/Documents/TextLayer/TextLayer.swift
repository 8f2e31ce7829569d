internal import Catalogue
internal import Glibc
internal import Pixels
internal import WorkerKit

/// Invisible text over pictures of text, in one font for all pages of a document.
///
/// The font has one empty glyph for all characters. Codes are assigned to characters as they occur, and `/ToUnicode`
/// maps them back.
final class TextLayer {
  /// The number of the font's object.
  let font: Int
  private let sink: any ObjectSink
  private let deflate: Deflate
  private var codes: [Unicode.Scalar: UInt16] = [:]
  private var scalars: [(code: UInt16, scalar: Unicode.Scalar)] = []
  private var next: UInt16 = 1

  init(to sink: any ObjectSink) throws(JobFailure) {
    // The data is small enough for libdeflate's highest level.
    guard let deflate = Deflate(level: 12) else { throw JobFailure.noMemory() }
    self.deflate = deflate
    self.sink = sink
    font = sink.reserve()
  }

  /// Whether there is any text.
  var isEmpty: Bool { scalars.isEmpty }

  /// Writes a page's text as a content stream that restores the graphics state. Returns its number. Returns `nil` if
  /// the page has no text.
  ///
  /// - Parameter name: the font's name in the page's resources, with its slash.
  func write(_ lines: [LayerLine], in frame: PageFrame, font name: String) throws(JobFailure) -> Int? {
    var content = Array("q BT 3 Tr".utf8)
    let empty = content.count
    for line in lines { add(line, in: frame, name, to: &content) }
    guard content.count > empty else { return nil }
    content += "\nET Q\n".utf8
    let number = sink.reserve()
    try write(number, "", content)
    return number
  }

  /// Adds a line. Each word is parallel to an axis over its own part of the line, which may be skewed: readers join
  /// such letters into words.
  private func add(_ line: LayerLine, in frame: PageFrame, _ name: String, to content: inout [UInt8]) {
    let words = line.words.map { word in
      (text: encoded(word.text), start: frame.place(word.start), end: frame.place(word.end), rise: frame.way(word.rise))
    }
    let way = words.reduce((x: 0.0, y: 0.0)) { ($0.x + $1.end.x - $1.start.x, $0.y + $1.end.y - $1.start.y) }
    let isLevel = abs(way.x) >= abs(way.y)
    let along = isLevel ? (x: way.x < 0 ? -1.0 : 1, y: 0.0) : (x: 0, y: way.y < 0 ? -1 : 1)
    /// Returns the position of a point along the line and across it.
    func place(_ point: (x: Double, y: Double)) -> (along: Double, across: Double) {
      (point.x * along.x + point.y * along.y, point.y * along.x - point.x * along.y)
    }
    let size = max(1, min(words.first.map { hypot($0.rise.x, $0.rise.y) } ?? 1, 1e4))
    var last: (along: Double, across: Double, stretch: Double)?
    for (index, word) in words.enumerated() {
      let (start, end) = (place(word.start), place(word.end))
      let length = end.along - start.along
      guard length > 0.01, length < 1e5, !word.text.isEmpty else { continue }
      let across = (start.across + end.across) / 2
      let stretch = (length / (size * GlyphlessFont.width * Double(word.text.count / 2)) * 1000).rounded() / 10
      if last == nil {
        content += "\n\(name) \(Self.text(size)) Tf ".utf8
        content += [along.x, along.y, -along.y, along.x].map { Self.text($0) }.joined(separator: " ").utf8
        let origin = (x: start.along * along.x - across * along.y, y: start.along * along.y + across * along.x)
        content += " \(Self.text(origin.x)) \(Self.text(origin.y)) Tm".utf8
      }
      let before = last ?? (start.along, across, 0)
      // The next step compensates for the rounding.
      let step = (
        along: ((start.along - before.along) * 100).rounded() / 100,
        across: ((across - before.across) * 20).rounded() / 20
      )
      if step != (0, 0) { content += "\n\(Self.text(step.along)) \(Self.text(step.across)) Td".utf8 }
      if stretch != before.stretch { content += " \(Self.text(stretch)) Tz".utf8 }
      last = (before.along + step.along, before.across + step.across, stretch)
      content +=
        " (".utf8 + word.text + (line.isSpaced && index < words.count - 1 ? encoded(" ") : []) + Array(")Tj".utf8)
    }
  }

  /// Returns the codes of a text, from left to right.
  private func encoded(_ text: String) -> [UInt8] {
    let isReversed = text.unicodeScalars.contains { $0.isFromTheRight }
    let letters = isReversed ? String(text.reversed()) : text
    return letters.unicodeScalars.flatMap { scalar -> [UInt8] in
      let code = code(of: scalar)
      return [UInt8(code >> 8), UInt8(code & 0xFF)]
    }
  }

  private func code(of scalar: Unicode.Scalar) -> UInt16 {
    if let known = codes[scalar] { return known }
    // Codes with bytes that a string would have to escape are left out.
    let special: Set<UInt16> = [0x28, 0x29, 0x5C, 0x0D]
    while special.contains(next & 0xFF) || special.contains(next >> 8) { next += 1 }
    guard next < 0xFFF0 else { return codes[" "] ?? 1 }
    codes[scalar] = next
    scalars.append((next, scalar))
    next += 1
    return next - 1
  }

  /// Writes the font. Must be called after all pages are written.
  func finish() throws(JobFailure) {
    let (descendant, descriptor) = (sink.reserve(), sink.reserve())
    let (file, map, unicode) = (sink.reserve(), sink.reserve(), sink.reserve())
    try sink.write(
      font,
      Array(
        """
        << /Type /Font /Subtype /Type0 /BaseFont /\(GlyphlessFont.name) /Encoding /Identity-H \
        /DescendantFonts [ \(descendant) 0 R ] /ToUnicode \(unicode) 0 R >>
        """.utf8))
    try sink.write(
      descendant,
      Array(
        """
        << /Type /Font /Subtype /CIDFontType2 /BaseFont /\(GlyphlessFont.name) /CIDToGIDMap \(map) 0 R \
        /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> \
        /FontDescriptor \(descriptor) 0 R /DW \(Int(1000 * GlyphlessFont.width)) >>
        """.utf8))
    try sink.write(
      descriptor,
      Array(
        """
        << /Type /FontDescriptor /FontName /\(GlyphlessFont.name) /Flags 4 /FontBBox [ 0 -\(GlyphlessFont.descent) \
        \(Int(1000 * GlyphlessFont.width)) \(GlyphlessFont.ascent) ] /ItalicAngle 0 /Ascent \(GlyphlessFont.ascent) \
        /Descent -\(GlyphlessFont.descent) /CapHeight \(GlyphlessFont.ascent) /StemV 80 /FontFile2 \(file) 0 R >>
        """.utf8))
    let program = GlyphlessFont.program
    try write(file, "/Length1 \(program.count) ", program)
    // Every code maps to glyph 1. Glyph 0 is for characters that a font lacks.
    try write(map, "", [0, 0] + (0..<Int(next)).flatMap { _ in [UInt8(0), 1] })
    try write(unicode, "", unicodes)
  }

  private func write(_ number: Int, _ entries: String, _ bytes: [UInt8]) throws(JobFailure) {
    let packed = deflate.compress(bytes)
    let dictionary = Array("<< \(entries)/Filter /FlateDecode >>".utf8)
    try unsafe sink.write(number, dictionary: dictionary, stream: packed.span.bytes)
  }

  /// The characters of all codes, as a CMap.
  private var unicodes: [UInt8] {
    var text = """
      /CIDInit /ProcSet findresource begin
      12 dict begin
      begincmap
      /CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def
      /CMapName /Adobe-Identity-UCS def
      /CMapType 2 def
      1 begincodespacerange
      <0000> <FFFF>
      endcodespacerange

      """
    // Readers must support 100 entries at a time.
    for start in stride(from: 0, to: scalars.count, by: 100) {
      let part = scalars[start..<min(start + 100, scalars.count)]
      text += "\(part.count) beginbfchar\n"
      for (code, scalar) in part {
        text += "<\(Self.digits(code))> <\(String(scalar).utf16.map(Self.digits).joined())>\n"
      }
      text += "endbfchar\n"
    }
    text += "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n"
    return Array(text.utf8)
  }

  private static func digits(_ code: UInt16) -> String {
    let digits = String(code, radix: 16, uppercase: true)
    return String(repeating: "0", count: 4 - digits.count) + digits
  }

  /// Returns a number rounded to hundredths.
  private static func text(_ number: Double) -> String {
    let whole = Int((number * 100).rounded())
    let (integer, fraction) = abs(whole).quotientAndRemainder(dividingBy: 100)
    let sign = whole < 0 ? "-" : ""
    if fraction == 0 { return "\(sign)\(integer)" }
    let digits = fraction % 10 == 0 ? "\(fraction / 10)" : fraction < 10 ? "0\(fraction)" : "\(fraction)"
    return "\(sign)\(integer == 0 ? "" : "\(integer)").\(digits)"
  }
}

extension Unicode.Scalar {
  /// Whether the character belongs to a script that is written from right to left.
  fileprivate var isFromTheRight: Bool {
    switch value {
    case 0x590...0x8FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFF, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
    default: false
    }
  }
}
