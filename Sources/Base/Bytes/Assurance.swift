/// How far the checksums of containers cover some bytes.
public enum Assurance: Sendable, Equatable {
  /// No container has a checksum of them.
  case none
  /// They agree with a checksum, or a reading to their end compares them with one.
  case checked
  /// A checksum exists, and has not been compared yet or cannot be.
  case open
  /// They do not agree with a checksum, or cannot be decoded.
  case damaged(Fault)
}

extension ByteSource {
  /// By default no container has a checksum.
  public func assurance(of range: Range<Int64>) -> Assurance { .none }

  /// The assurance of all bytes.
  public var assurance: Assurance { assurance(of: 0..<max(0, size)) }
}
