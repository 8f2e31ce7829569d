internal import Bytes

/// A worker's request for a range of its job's input, if the input is not in a file (`Job.isOnDemand`).
///
/// It is sent on the job's socket. The reply is one message: 1 and the bytes, or 0 if they cannot be read.
public struct InputRequest: Hashable, Sendable {
  public let offset: Int64
  public let count: Int

  /// The maximum number of bytes in a reply. A message of this size fits into the default buffer of a socket.
  public static let most = 128 << 10
  /// The value that answers have as the number of a failure.
  private static let kind: UInt64 = 257

  public init(offset: Int64, count: Int) {
    self.offset = offset
    self.count = count
  }

  public var message: [UInt8] { [UInt8](littleEndian: [0, Self.kind, UInt64(bitPattern: offset), UInt64(count)]) }

  /// Decodes a message and validates it. Returns `nil` if it is another message or invalid.
  public init?(message bytes: [UInt8]) {
    guard bytes.count == 32 else { return nil }
    let words = (0..<4).map { UInt64(littleEndianBytes: bytes[(8 * $0)..<(8 * $0 + 8)]) }
    guard words[0] == 0, words[1] == Self.kind, let offset = Int64(exactly: words[2]), Bounds.holds(offset),
      let count = Int(exactly: words[3]), (1...Self.most).contains(count)
    else { return nil }
    self.init(offset: offset, count: count)
  }

  /// Returns the reply with these bytes. `nil` stands for bytes that cannot be read.
  public static func reply(_ bytes: [UInt8]?) -> [UInt8] { bytes.map { [1] + $0 } ?? [0] }
}
