internal import WorkerKit

/// The strings to which a workbook's cells refer by number. They are in one buffer, since there can be millions.
struct SharedStrings {
  private var bytes: [UInt8] = []
  private var ends: [Int] = []

  init() {}

  init(_ reader: MarkupReader) throws(JobFailure) {
    while let event = try reader.next() {
      guard case .start(let element) = event, element.name == "si" else { continue }
      bytes += try Self.text(reader).utf8
      ends.append(bytes.count)
    }
  }

  subscript(_ index: Int) -> String? {
    guard ends.indices.contains(index) else { return nil }
    return String(decoding: bytes[(index == 0 ? 0 : ends[index - 1])..<ends[index]], as: UTF8.self)
  }

  /// Returns the text of the element that has just started, which can have parts with different formatting. Omits
  /// phonetic readings.
  static func text(_ reader: MarkupReader) throws(JobFailure) -> String {
    var text = ""
    try reader.forEachElement { (element) throws(JobFailure) in
      switch element.name {
      case "t": text += Self.unescaped(try reader.text())
      case "rPh": try reader.skip()
      default: break
      }
    }
    return text
  }

  /// Decodes characters such as `_x000D_` (ECMA-376, part 1, 22.9.2.19).
  static func unescaped(_ text: String) -> String {
    guard text.contains("_x") else { return text }
    var (result, rest) = ("", text[...])
    while let mark = rest.firstRange(of: "_x") {
      result += rest[..<mark.lowerBound]
      rest = rest[mark.lowerBound...]
      let code = rest.dropFirst(2).prefix(4)
      let end = rest.dropFirst(6).first
      if code.utf8.count == 4, end == "_", let value = UInt32(code, radix: 16), let scalar = UnicodeScalar(value) {
        if value != 0x0d { result.unicodeScalars.append(scalar) }
        rest = rest.dropFirst(7)
      } else {
        result += "_x"
        rest = rest.dropFirst(2)
      }
    }
    return result + rest
  }
}
