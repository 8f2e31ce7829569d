/// CRC-32, implemented again so that the tests do not rely on the code under test.
public enum ZipChecksum {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xedb8_8320 : value >> 1 }
  }

  public static func crc32(_ bytes: [UInt8]) -> UInt32 {
    var value = UInt32.max
    let table = table
    for byte in bytes { value = table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] ^ value >> 8 }
    return ~value
  }
}

/// Deflate streams (RFC 1951) without a compressor.
public enum ZipDeflate {
  /// Stored blocks of at most 65,535 bytes each.
  public static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var stream: [UInt8] = []
    var rest = bytes[...]
    repeat {
      let block = rest.prefix(0xffff)
      rest = rest.dropFirst(block.count)
      stream.append(rest.isEmpty ? 1 : 0)
      stream.append(u16: UInt16(block.count))
      stream.append(u16: ~UInt16(block.count))
      stream += block
    } while !rest.isEmpty
    return stream
  }

  /// `count` zeros in about a thousandth of the bytes: one block of fixed Huffman codes, with copies of 258 bytes.
  public static func zeros(_ count: Int) -> [UInt8] {
    var bits = BitWriter()
    bits.put(1, 1)
    bits.put(1, 2)
    // Literal 0 is 00110000; codes are written from their highest bit.
    func literal() { bits.put(0b0000_1100, 8) }
    var left = count
    if left > 0 {
      literal()
      left -= 1
    }
    while left >= 258 {
      // Length code 285 (11000101) without extra bits, distance code 0: one byte back.
      bits.put(0b1010_0011, 8)
      bits.put(0, 5)
      left -= 258
    }
    for _ in 0..<left { literal() }
    bits.put(0, 7)
    return bits.finish()
  }

  private struct BitWriter {
    private var bytes: [UInt8] = []
    private var pending: UInt32 = 0
    private var count: UInt32 = 0

    mutating func put(_ value: UInt32, _ width: UInt32) {
      pending |= value << count
      count += width
      while count >= 8 {
        bytes.append(UInt8(truncatingIfNeeded: pending))
        pending >>= 8
        count -= 8
      }
    }

    func finish() -> [UInt8] { count > 0 ? bytes + [UInt8(truncatingIfNeeded: pending)] : bytes }
  }
}
