internal import Bytes

/// A TrueType font of two empty glyphs, half as wide as they are high.
enum GlyphlessFont {
  static let name = "FFGlyphless"
  /// The width of the glyphs, in em.
  static let width = 0.5
  /// The ascent, in thousandths of an em. An em is the height of a line.
  static let ascent = 780
  static let descent = 220

  /// The font file (ISO/IEC 14496-22), with the tables that a PDF needs.
  static let program: [UInt8] = {
    let tables: [(tag: String, data: [UInt8])] = [
      ("glyf", [0, 0, 0, 0]),
      ("head", head),
      ("hhea", words([1, 0, ascent, -descent, 0, 500, 0, 0, 500, 1, 0, 0, 0, 0, 0, 0, 0, 2])),
      // Both glyphs have the same width and start at their left edge.
      ("hmtx", words([500, 0, 500, 0])),
      // Both glyphs are at offset 0 and have no outline.
      ("loca", words([0, 0, 0])),
      ("maxp", words([1, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0])),
    ]
    var directory = words([1, 0, tables.count, 64, 2, 32])
    var body: [UInt8] = []
    for table in tables {
      let start = 12 + 16 * tables.count + body.count
      directory += Array(table.tag.utf8) + long(sum(of: table.data)) + long(UInt32(start))
      directory += long(UInt32(table.data.count))
      body += table.data
      while body.count % 4 != 0 { body.append(0) }
    }
    var file = directory + body
    // The checksum of the whole file has a fixed value.
    let adjustment = long(0xB1B0_AFBA &- sum(of: file))
    let place = 12 + 16 * tables.count + 4 + 8
    file.replaceSubrange(place..<(place + 4), with: adjustment)
    return file
  }()

  private static let head =
    words([1, 0, 1, 0, 0, 0, 0x5F0F, 0x3CF5, 0, 1000]) + [UInt8](repeating: 0, count: 16)
    + words([0, -descent, 500, ascent, 0, 8, 2, 0, 0])

  private static func words(_ values: [Int]) -> [UInt8] {
    values.flatMap { value -> [UInt8] in
      let word = UInt16(truncatingIfNeeded: value)
      return [UInt8(word >> 8), UInt8(word & 0xFF)]
    }
  }

  private static func long(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
  }

  /// Returns the sum of a table's 32-bit words.
  private static func sum(of bytes: [UInt8]) -> UInt32 {
    var sum: UInt32 = 0
    for (index, byte) in bytes.enumerated() { sum = sum &+ UInt32(byte) << UInt32(24 - 8 * (index & 3)) }
    return sum
  }
}
