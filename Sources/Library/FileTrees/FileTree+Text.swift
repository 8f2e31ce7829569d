internal import Bytes
public import SystemPackage
internal import Text

extension FileTree {
  /// How a file's bytes are read as text.
  public enum TextEncoding: Sendable, Hashable, CaseIterable {
    /// UTF-8, RFC 3629.
    case utf8
    /// In the order of bytes that a mark at its start says; without one, the least significant first.
    case utf16
    /// US-ASCII: bytes below 128.
    case ascii
    /// ISO 8859-1: each byte is the character of its number.
    case latin1
    /// UTF-8 or UTF-16 if it is that, else the likeliest character set.
    case detected
  }

  /// A file's bytes as text, without a mark of the byte order at its start.
  ///
  /// - Parameters:
  ///   - encoding: what the text is written in.
  ///   - limit: in bytes; what is larger is not read.
  /// - Throws: what `read(_:limit:)` throws; `damaged` if it is no such text.
  public func text(
    _ path: FilePath, encoding: TextEncoding = .detected, limit: Int = 256 << 20
  ) async throws(FileTreeError) -> String {
    try await run(path) { [self] () throws(Fault) in
      var reader = ChunkReader(self, path, nil, size: 1 << 20)
      guard let text = encoding.text(of: try reader.all(limit: limit)[...]) else {
        throw Fault(.damaged, "it is no text in \(encoding.name)")
      }
      return text
    }
  }
}

extension FileTree.TextEncoding {
  /// Bytes as text, without a mark of the byte order at their start; nil if they are no such text.
  ///
  /// - Parameter isCut: whether more follows that is not there: then half a character at the end is left out.
  public func text(of bytes: ArraySlice<UInt8>, isCut: Bool = false) -> String? {
    let marks = self == .utf16 || self == .detected ? Self.utf16Marks : []
    let mark = marks.first { bytes.starts(with: $0) }
    if self == .utf16 || mark != nil {
      let bytes = isCut ? bytes.prefix(bytes.count & ~1) : bytes
      let isLittle = mark != Self.utf16Marks[1]
      if let text = Self.utf16(bytes.dropFirst(mark == nil ? 0 : 2), isLittle: isLittle, isCut) { return text }
      if self == .utf16 { return nil }
    }
    switch self {
    case .ascii: return bytes.contains { $0 >= 0x80 } ? nil : String(decoding: bytes, as: UTF8.self)
    case .latin1: return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    case .utf8, .utf16, .detected: break
    }
    let plain = bytes.starts(with: Self.utf8Mark) ? bytes.dropFirst(Self.utf8Mark.count) : bytes
    var whole = plain
    if isCut { for _ in 0..<3 where !whole.span.isUTF8 { whole = whole.dropLast() } }
    if let text = whole.span.validText { return text }
    if self == .utf8 { return nil }
    let lines = plain.split(separator: UInt8(ascii: "\n"), maxSplits: 2000)
    let charset = CharsetDetector.charset(of: lines, in: .text)
    if let text = CharsetConverter(charset)?.utf8(plain) { return String(decoding: text, as: UTF8.self) }
    return String(decoding: plain, as: UTF8.self)
  }

  private static let utf8Mark: [UInt8] = [0xef, 0xbb, 0xbf]
  /// The least significant byte first, and last.
  private static let utf16Marks: [[UInt8]] = [[0xff, 0xfe], [0xfe, 0xff]]

  private static func utf16(_ bytes: ArraySlice<UInt8>, isLittle: Bool, _ isCut: Bool) -> String? {
    guard bytes.count.isMultiple(of: 2) else { return nil }
    var units = stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map { place in
      isLittle
        ? UInt16(bytes[place]) | UInt16(bytes[place + 1]) << 8 : UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1])
    }
    if isCut, let last = units.last, UTF16.isLeadSurrogate(last) { units.removeLast() }
    return String(validating: units, as: UTF16.self)
  }

  /// For an error: `UTF-8`.
  fileprivate var name: String {
    switch self {
    case .utf8: "UTF-8"
    case .utf16: "UTF-16"
    case .ascii: "ASCII"
    case .latin1: "ISO 8859-1"
    case .detected: "any encoding"
    }
  }
}
