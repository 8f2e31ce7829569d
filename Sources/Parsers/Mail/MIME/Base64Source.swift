internal import Bytes

/// Base64 encoding (RFC 2045 §6.8) of another source, in lines of 76 characters that end with LF.
final class Base64Source: ByteSource {
  private let source: any ByteSource
  let size: Int64

  private static let bytesInLine: Int64 = 57
  private static let line: Int64 = 77
  private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  init(_ source: any ByteSource) {
    self.source = source
    size = Self.size(of: source.size)
  }

  /// Returns the encoded size of `count` bytes.
  static func size(of count: Int64) -> Int64 {
    let (lines, rest) = count.quotientAndRemainder(dividingBy: bytesInLine)
    return Bounds.size(lines * line + (rest == 0 ? 0 : (rest + 2) / 3 * 4 + 1))
  }

  func verify() throws(Fault) { try source.verify() }

  /// The number of lines that are encoded at a time.
  private static let linesAtATime: Int64 = 256

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    guard offset >= 0, offset < size else { return 0 }
    let wanted = Int(min(Int64(buffer.count), size - offset))
    var written = 0
    while written < wanted {
      let place = offset + Int64(written)
      let first = place / Self.line
      let count = min(Self.linesAtATime, (size - 1) / Self.line - first + 1)
      let text = try lines(first, count, blocking)[Int(place - first * Self.line)...].prefix(wanted - written)
      unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[written...]).copyBytes(from: text)
      written += text.count
    }
    return written
  }

  private func lines(_ first: Int64, _ count: Int64, _ blocking: BlockingMode) throws(Fault) -> [UInt8] {
    let start = first * Self.bytesInLine
    let bytes = try source.bytes(at: start, count: Int(min(count * Self.bytesInLine, source.size - start)), blocking)
    var text: [UInt8] = []
    text.reserveCapacity(Int(count * Self.line))
    for line in stride(from: 0, to: bytes.count, by: Int(Self.bytesInLine)) {
      let end = min(bytes.count, line + Int(Self.bytesInLine))
      for place in stride(from: line, to: end, by: 3) {
        let known = min(3, end - place)
        let word = (0..<3).reduce(0) { $0 << 8 | ($1 < known ? Int(bytes[place + $1]) : 0) }
        for letter in 0..<4 {
          text.append(letter <= known ? Self.letters[word >> (18 - 6 * letter) & 63] : UInt8(ascii: "="))
        }
      }
      text.append(0x0a)
    }
    return text
  }
}
