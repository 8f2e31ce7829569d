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
      return try reader.all(limit: limit).text(in: encoding)
    }
  }
}

extension [UInt8] {
  fileprivate func text(in encoding: FileTree.TextEncoding) throws(Fault) -> String {
    switch encoding {
    case .utf8:
      if let text = withoutMark.span.validText { return text }
      throw Fault(.damaged, "it is no text in UTF-8")
    case .utf16:
      if let text = utf16Text(isLittle: !starts(with: [0xfe, 0xff])) { return text }
      throw Fault(.damaged, "it is no text in UTF-16")
    case .ascii:
      guard let place = firstIndex(where: { $0 >= 0x80 }) else { return String(decoding: self, as: UTF8.self) }
      throw Fault(.damaged, "it is no text in ASCII", atByte: Int64(place))
    case .latin1:
      return String(String.UnicodeScalarView(map { Unicode.Scalar($0) }))
    case .detected: return detectedText
    }
  }

  private var withoutMark: ArraySlice<UInt8> { starts(with: [0xef, 0xbb, 0xbf]) ? dropFirst(3) : self[...] }

  private func utf16Text(isLittle: Bool) -> String? {
    guard count.isMultiple(of: 2) else { return nil }
    let hasMark = starts(with: [0xff, 0xfe]) || starts(with: [0xfe, 0xff])
    let units = stride(from: hasMark ? 2 : 0, to: count, by: 2).map { place in
      isLittle
        ? UInt16(self[place]) | UInt16(self[place + 1]) << 8 : UInt16(self[place]) << 8 | UInt16(self[place + 1])
    }
    return String(validating: units, as: UTF16.self)
  }

  private var detectedText: String {
    if starts(with: [0xff, 0xfe]) || starts(with: [0xfe, 0xff]),
      let text = utf16Text(isLittle: first == 0xff)
    {
      return text
    }
    if let text = withoutMark.span.validText { return text }
    let lines = split(separator: UInt8(ascii: "\n"), maxSplits: 2000)
    let charset = CharsetDetector.charset(of: lines, in: .text)
    return String(decoding: CharsetConverter(charset)?.utf8(self[...]) ?? self, as: UTF8.self)
  }
}
