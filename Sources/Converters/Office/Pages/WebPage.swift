internal import Bytes
internal import Catalogue
internal import Text
internal import WorkerKit

/// A web page's bytes as text.
enum WebPage {
  /// The maximum size of a page, in bytes.
  private static let largest: Int64 = 256 << 20
  /// The number of bytes in which browsers search for the declared character set.
  private static let head = 4096

  /// Returns a parser of a page.
  static func reader(_ source: any ByteSource) throws(JobFailure) -> MarkupReader {
    guard source.size <= largest else { throw JobFailure(.limit, "is larger than \(largest) bytes") }
    let bytes: [UInt8]
    do throws(Fault) { bytes = try source.bytes(at: 0, count: Int(source.size)) } catch { throw JobFailure(error) }
    return try MarkupReader(
      ByteArraySource(DecodedText.utf8(bytes, declared: declaredCharset(bytes.prefix(head)))), .html)
  }

  /// Returns the word after `charset=` or `encoding=`.
  private static func declaredCharset(_ head: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    let text = head.map { $0 | ((0x41...0x5a).contains($0) ? 0x20 : 0) }
    for mark in ["charset", "encoding"] {
      guard let found = text.firstOccurrence(of: Array(mark.utf8)) else { continue }
      let rest = text[found.upperBound...].drop { " =\"'\t".utf8.contains($0) }
      let name = rest.prefix { !" \"';>/\t\r\n?".utf8.contains($0) }
      if !name.isEmpty { return name }
    }
    return nil
  }
}
