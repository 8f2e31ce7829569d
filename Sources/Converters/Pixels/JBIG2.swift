/// A lossless encoder for JBIG2 (ITU-T T.88) as embedded in a PDF: a page with one arithmetically coded generic region.
///
/// Other codecs come from libraries. This one does not, because no distribution's stable release has a JBIG2 encoder,
/// and black-and-white pages are smaller by it than by Group 4. Two independent decoders read every pixel back, in
/// tests and under `scripts/fuzz jbig2`.
public enum JBIG2 {
  /// Template 0 with its adaptive pixels at their nominal locations: 16 neighbours.
  private static let template: [UInt8] = [0x08, 0x03, 0xFF, 0xFD, 0xFF, 0x02, 0xFE, 0xFE, 0xFE]
  /// The context of the flag for a row equal to the one above (6.2.5.7).
  private static let repetition = 0x9B25

  /// Returns the encoded image, which a PDF reader decodes to the same bits.
  public static func bytes(of image: Bilevel) -> [UInt8] {
    let size = word(image.width) + word(image.height)
    // No resolution; lossless; not striped.
    let page = size + word(0) + word(0) + [0x01, 0x00, 0x00]
    let region = size + word(0) + word(0) + [0x00] + template + code(of: image)
    return segment(0, kind: 48, page) + segment(1, kind: 38, region)
  }

  private static func segment(_ number: Int, kind: UInt8, _ data: [UInt8]) -> [UInt8] {
    // Refers to no other segment and belongs to page 1.
    word(number) + [kind, 0x00, 0x01] + word(data.count) + data
  }

  private static func word(_ value: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  private static func code(of image: Bilevel) -> [UInt8] {
    var coder = ArithmeticCoder(contexts: 1 << 16)
    let (width, size) = (image.width, image.rowSize)
    // Rows with a margin of white pixels, one byte per pixel.
    let margin = 4
    let blank = [UInt8](repeating: 0, count: width + 2 * margin)
    var (above2, above, row) = (blank, blank, blank)
    var wasRepeated = false
    for y in 0..<image.height {
      let start = y * size
      let isRepeated =
        y > 0 && image.bytes[start..<(start + size)].elementsEqual(image.bytes[(start - size)..<start])
      coder.code(isRepeated == wasRepeated ? 0 : 1, in: repetition)
      wasRepeated = isRepeated
      (above2, above, row) = (above, row, above2)
      if isRepeated {
        row = above
        continue
      }
      // Black is 1 here, and 0 in the output of the reader's filter.
      for x in 0..<width { row[x + margin] = ~(image.bytes[start + x >> 3] >> UInt8(7 - x & 7)) & 1 }
      code(row, above, above2, width: width, margin: margin, with: &coder)
    }
    coder.finish()
    return coder.bytes
  }

  /// Codes a row given the two above it. Bits are shifted into each context from the right.
  private static func code(
    _ row: [UInt8], _ above: [UInt8], _ above2: [UInt8], width: Int, margin: Int, with coder: inout ArithmeticCoder
  ) {
    var near = 0
    var middle = above[margin..<(margin + 3)].reduce(0) { $0 << 1 | Int($1) }
    var far = above2[margin..<(margin + 2)].reduce(0) { $0 << 1 | Int($1) }
    for x in margin..<(margin + width) {
      middle = (middle << 1 | Int(above[x + 3])) & 0x7F
      far = (far << 1 | Int(above2[x + 2])) & 0x1F
      let bit = row[x]
      coder.code(bit, in: far << 11 | middle << 4 | near)
      near = (near << 1 | Int(bit)) & 0x0F
    }
  }
}
