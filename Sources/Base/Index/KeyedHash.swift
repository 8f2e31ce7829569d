internal import Bytes

/// A keyed 64-bit hash: SipHash-2-4 (Aumasson and Bernstein, 2012).
struct KeyedHash: Sendable {
  private var v0, v1, v2, v3: UInt64
  /// The bytes of the incomplete word, the first in the lowest bits.
  private var rest: UInt64 = 0
  private var count: UInt64 = 0

  /// Creates a hash with the first 16 bytes of `key`.
  init(key: [UInt8]) {
    let (k0, k1) = (UInt64(littleEndianBytes: key[0..<8]), UInt64(littleEndianBytes: key[8..<16]))
    v0 = k0 ^ 0x736f_6d65_7073_6575
    v1 = k1 ^ 0x646f_7261_6e64_6f6d
    v2 = k0 ^ 0x6c79_6765_6e65_7261
    v3 = k1 ^ 0x7465_6462_7974_6573
  }

  @inline(__always)
  private mutating func round() {
    func rotated(_ word: UInt64, _ bits: UInt64) -> UInt64 { word << bits | word >> (64 - bits) }
    v0 &+= v1
    v2 &+= v3
    v1 = rotated(v1, 13) ^ v0
    v3 = rotated(v3, 16) ^ v2
    v0 = rotated(v0, 32)
    v2 &+= v1
    v0 &+= v3
    v1 = rotated(v1, 17) ^ v2
    v3 = rotated(v3, 21) ^ v0
    v2 = rotated(v2, 32)
  }

  private mutating func compress(_ word: UInt64) {
    v3 ^= word
    round()
    round()
    v0 ^= word
  }

  /// Appends bytes.
  mutating func combine(_ bytes: [UInt8]) {
    let span = unsafe bytes.span.bytes
    var place = 0
    if count & 7 == 0 {
      while place + 8 <= span.byteCount {
        compress(unsafe UInt64(littleEndian: span.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)))
        place += 8
      }
      count &+= UInt64(place)
    }
    while place < bytes.count {
      rest |= UInt64(bytes[place]) << (8 * (count & 7))
      count &+= 1
      place += 1
      if count & 7 == 0 {
        compress(rest)
        rest = 0
      }
    }
  }

  /// Appends a number.
  mutating func combine(_ word: UInt64) { combine([UInt8](littleEndian: word)) }

  /// Appends bytes with their length.
  mutating func combine(field bytes: [UInt8]) {
    combine(UInt64(bytes.count))
    combine(bytes)
  }

  /// The hash of everything appended.
  var value: UInt64 {
    var end = self
    end.compress(rest | count << 56)
    end.v2 ^= 0xff
    for _ in 0..<4 { end.round() }
    return end.v0 ^ end.v1 ^ end.v2 ^ end.v3
  }
}
