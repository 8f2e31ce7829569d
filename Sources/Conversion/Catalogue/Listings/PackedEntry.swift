internal import Bytes

/// The properties of an entry's bytes recorded in a ZIP archive, as arguments of a conversion: `98-348894-1f2e3d4c`.
public struct PackedEntry: Arguments {
  /// The compression method (APPNOTE 4.4.5).
  public let method: UInt16
  /// The decompressed size, in bytes.
  public let size: Int64
  /// The checksum. `nil` if none is recorded.
  public let crc: UInt32?

  public init(method: UInt16, size: Int64, crc: UInt32?) {
    self.method = method
    self.size = size
    self.crc = crc
  }

  public init?(_ text: Substring) {
    let words = text.split(separator: "-", omittingEmptySubsequences: false)
    guard words.count == 3, let method = UInt16(words[0]), let size = Int64(words[1]), size >= 0 else { return nil }
    let crc = UInt32(words[2], radix: 16)
    guard crc != nil || words[2].isEmpty else { return nil }
    self.init(method: method, size: size, crc: crc)
    guard description == text else { return nil }
  }

  public var description: String { "\(method)-\(size)-\(crc.map { String($0, radix: 16) } ?? "")" }
}
