internal import Bytes
public import SystemPackage
internal import Text

extension FileTree {
  /// A text encoding.
  public enum TextEncoding: Sendable, Hashable, CaseIterable {
    /// UTF-8, RFC 3629.
    case utf8
    /// UTF-16 in the byte order of the byte order mark, or little-endian without one.
    case utf16
    /// US-ASCII: bytes below 128.
    case ascii
    /// ISO 8859-1: each byte is the number of its character.
    case latin1
    /// UTF-8 or UTF-16 if the bytes are valid, otherwise the most likely character set.
    case detected
  }

  /// Returns the text of a file, without a byte order mark.
  ///
  /// - Parameters:
  ///   - encoding: The encoding of the text.
  ///   - limit: The maximum size, in bytes. Larger files are not read.
  /// - Throws: The errors of `read(_:limit:)`; `damaged` if the bytes are not valid in the encoding.
  public func text(
    _ path: FilePath, encoding: TextEncoding = .detected, limit: Int = 256 << 20
  ) async throws(FileTreeError) -> String {
    try await run(path) { [self] () throws(Fault) in
      var reader = ChunkReader(self, path, nil, size: 1 << 20)
      guard let text = encoding.text(of: try reader.all(limit: limit)[...]) else {
        throw Fault(.damaged, "it is not text in \(encoding.name)")
      }
      return text
    }
  }
}

extension FileTree.TextEncoding {
  /// Returns the text of bytes, without a byte order mark. Returns `nil` if they are not valid in the encoding.
  ///
  /// - Parameter isCut: Whether the bytes are truncated. An incomplete character at the end is then left out.
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
  /// The byte order marks of little-endian and big-endian text.
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

  /// The name in error messages, such as `UTF-8`.
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
