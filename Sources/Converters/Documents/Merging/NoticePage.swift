internal import Catalogue
internal import WorkerKit

/// A page with a title and a text, for a file that cannot be shown.
struct NoticePage {
  let title: String
  let text: String

  /// The size of a sheet of A4, in points.
  private static let (width, height) = (595, 842)
  private static let margin = 56
  /// The maximum number of characters in a line, which is about what fits.
  private static let longestLine = 80
  private static let mostLines = 40

  /// Writes the page and returns its number.
  func write(to writer: PDFWriter, below node: Int) throws(JobFailure) -> Int {
    let (page, contents, plain, bold) = (writer.reserve(), writer.reserve(), writer.reserve(), writer.reserve())
    for (number, name) in [(plain, "Helvetica"), (bold, "Helvetica-Bold")] {
      try writer.write(
        number, Array("<< /Type /Font /Subtype /Type1 /BaseFont /\(name) /Encoding /WinAnsiEncoding >>".utf8))
    }
    let drawing = Array(
      """
      BT \(Self.margin) \(Self.height - 2 * Self.margin) Td
      \(Self.drawing(title, font: "/Bold 14 Tf 18 TL"))
      0 -12 Td
      \(Self.drawing(text, font: "/Plain 11 Tf 15 TL"))
      ET
      """.utf8)
    try unsafe writer.write(contents, dictionary: Array("<< >>".utf8), stream: drawing.span.bytes)
    try writer.write(
      page,
      Array(
        """
        << /Type /Page /Parent \(node) 0 R /MediaBox [ 0 0 \(Self.width) \(Self.height) ] /Contents \(contents) 0 R \
        /Resources << /Font << /Plain \(plain) 0 R /Bold \(bold) 0 R >> >> >>
        """.utf8))
    return page
  }

  /// Returns the operators that show a text. The fonts have only Western letters, but copied text has all letters.
  private static func drawing(_ text: String, font: String) -> String {
    let actual = text.utf16.flatMap { [UInt8]($0.bigEndianBytes) }
    let lines = lines(of: text).prefix(mostLines).map { line in
      "\(hexadecimal(line.unicodeScalars.map(letter))) Tj T*"
    }
    return "\(font) /Span << /ActualText \(hexadecimal([0xFE, 0xFF] + actual)) >> BDC\n"
      + lines.joined(separator: "\n") + "\nEMC"
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    String(decoding: ObjectText.hexadecimal(bytes), as: UTF8.self)
  }

  private static func letter(_ scalar: Unicode.Scalar) -> UInt8 {
    switch scalar.value {
    case 0x20...0x7E, 0xA1...0xFF: UInt8(scalar.value)
    default: 0x3F
    }
  }

  /// Returns the text broken at spaces, and within words that are too long.
  private static func lines(of text: String) -> [String] {
    var lines = [""]
    for word in text.split(whereSeparator: \.isWhitespace) {
      var rest = word
      if lines[lines.count - 1].count + 1 + rest.count > longestLine, !lines[lines.count - 1].isEmpty {
        lines.append("")
      }
      while rest.count > longestLine {
        lines[lines.count - 1] += rest.prefix(longestLine)
        rest = rest.dropFirst(longestLine)
        lines.append("")
      }
      let space = lines[lines.count - 1].isEmpty ? "" : " "
      lines[lines.count - 1] += space + rest
    }
    return lines
  }
}

extension UInt16 {
  fileprivate var bigEndianBytes: [UInt8] { [UInt8(truncatingIfNeeded: self >> 8), UInt8(truncatingIfNeeded: self)] }
}
