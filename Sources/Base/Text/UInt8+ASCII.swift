/// ASCII characters.
extension UInt8 {
  /// The lowercase letter of a capital. Any other byte is itself.
  @inlinable @inline(__always)
  public var asciiLowercase: UInt8 { self >= 0x41 && self <= 0x5a ? self | 0x20 : self }

  @inlinable @inline(__always)
  public var isAsciiDigit: Bool { self >= 0x30 && self <= 0x39 }

  @inlinable @inline(__always)
  public var isAsciiLetter: Bool { (0x61...0x7a).contains(self | 0x20) }

  /// The value of a hexadecimal digit, 0 to 15. `nil` for any other byte.
  @inlinable @inline(__always)
  public var hexValue: UInt8? {
    switch self {
    case 0x30...0x39: self - 0x30
    case 0x41...0x46: self - 0x37
    case 0x61...0x66: self - 0x57
    default: nil
    }
  }
}
