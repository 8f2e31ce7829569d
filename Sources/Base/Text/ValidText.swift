/// Validation of UTF-8 by `UTF8Span`. `String(validating:as:)` is generic and takes three times as long.
extension Span where Element == UInt8 {
  /// Whether the bytes are valid UTF-8. O(n).
  public var isUTF8: Bool { (try? UTF8Span(validating: self)) != nil }

  /// The bytes as text. Nil if they are not valid UTF-8. O(n).
  public var validText: String? {
    guard let valid = try? UTF8Span(validating: self) else { return nil }
    return String(copying: valid)
  }
}

extension RawSpan {
  /// The bytes as text. Nil if they are not valid UTF-8. O(n).
  public var validText: String? {
    unsafe withUnsafeBytes { bytes in unsafe bytes.bindMemory(to: UInt8.self).span.validText }
  }
}
