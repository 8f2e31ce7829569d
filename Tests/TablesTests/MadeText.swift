import Bytes
import Testing

@testable import Tables

/// Converts a file's bytes, in one piece or in many.
enum MadeText {
  static func rewriting(
    _ bytes: [UInt8], _ form: TableForm, _ content: TableForm.Content, title: String = "t"
  ) throws -> any PieceRewriting {
    try form.rewriting(ByteArraySource(bytes), content, title)
  }

  /// - Parameter size: the size of a piece, in bytes.
  static func text(
    _ bytes: [UInt8], _ form: TableForm, _ content: TableForm.Content, pieces size: Int = .max
  ) throws -> String {
    var rewriting = try rewriting(bytes, form, content)
    var converters = TextDecoder.Converters()
    var made: [UInt8] = []
    var start = 0
    repeat {
      let end = min(bytes.count, start + min(size, bytes.count))
      made += rewriting.rewrite(Array(bytes[start..<end]), isLast: end == bytes.count, &converters)
      start = end
    } while start < bytes.count && !rewriting.isFinished
    return try #require(String(validating: made, as: UTF8.self))
  }

  /// The rows of a page: those of its head, then those of its body.
  static func rows(_ page: String) -> String {
    guard let start = page.firstRange(of: "<thead>"), let end = page.firstRange(of: "</table>") else { return page }
    return String(page[start.lowerBound..<end.lowerBound])
  }
}
