internal import Bytes

/// The facts of a document by which results are ordered.
public struct DocumentRank: Sendable, Equatable {
  /// The date, in seconds since 1970. `nil` if it has none.
  public let date: Int64?
  /// The size of the words of the text, in bytes, at most 2^32 - 1.
  public let length: Int

  init(date: Int64?, length: Int) { (self.date, self.length) = (date, Int(UInt32(clamping: length))) }

  /// The size of a packed rank, in bytes: the date, or the least number, and the length.
  static let size = 12

  var packed: [UInt8] { [UInt8](littleEndian: date ?? .min) + [UInt8](littleEndian: UInt32(length)) }

  /// Appends packed ranks to a list. Ignores an incomplete last one.
  static func append(_ packed: [UInt8], to ranks: inout [DocumentRank]) {
    unsafe packed.withUnsafeBytes { bytes in
      for place in stride(from: 0, through: bytes.count - size, by: size) {
        let date = unsafe Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Int64.self))
        let length = unsafe UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place + 8, as: UInt32.self))
        ranks.append(DocumentRank(date: date == .min ? nil : date, length: Int(length)))
      }
    }
  }
}
