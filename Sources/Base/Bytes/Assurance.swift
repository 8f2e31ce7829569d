/// The extent to which container checksums verify some bytes.
public enum Assurance: Sendable, Equatable {
  /// No container has a checksum of the bytes.
  case none
  /// The bytes match a checksum, or reading them to the end verifies one.
  case checked
  /// A checksum exists but has not been compared yet, or cannot be compared.
  case open
  /// The bytes do not match a checksum, or cannot be decoded.
  case damaged(Fault)
}

extension ByteSource {
  /// Returns `.none`. By default, no container has a checksum.
  public func assurance(of range: Range<Int64>) -> Assurance { .none }

  /// The assurance of all bytes.
  public var assurance: Assurance { assurance(of: 0..<max(0, size)) }
}
