/// The range that a Range header requests, for a known size (RFC 9110, section 14).
enum ByteRanges: Equatable {
  /// All bytes. The header is missing, or can be ignored.
  case whole
  case part(Range<Int64>)
  case unsatisfiable

  /// Parses a Range header. Several ranges yield the whole, as a server is free to do, so that no request yields more
  /// than the file.
  init(_ header: String?, size: Int64) {
    self = .whole
    guard let header, header.utf8.count <= 128, header.lowercased().hasPrefix("bytes=") else { return }
    let text = header.dropFirst("bytes=".count).filter { $0 != " " && $0 != "\t" }
    guard !text.contains(","), let dash = text.firstIndex(of: "-") else { return }
    let first = text[..<dash]
    let last = text[text.index(after: dash)...]
    guard first.utf8.allSatisfy(Self.isDigit), last.utf8.allSatisfy(Self.isDigit) else { return }
    if first.isEmpty {
      if last.isEmpty { return }
      let count = min(Self.number(last), size)
      self = count > 0 ? .part(size - count..<size) : .unsatisfiable
      return
    }
    let start = Self.number(first)
    let end = last.isEmpty ? Int64.max : Self.number(last)
    guard start <= end else { return }
    self = start < size ? .part(start..<min(size, end == .max ? end : end + 1)) : .unsatisfiable
  }

  private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

  /// Returns a number. Larger ones than any size are clamped.
  private static func number(_ digits: Substring) -> Int64 { Int64(digits) ?? .max }
}
