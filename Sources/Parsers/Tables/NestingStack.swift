/// The kinds of the open brackets, one bit each.
struct NestingStack: Sendable {
  private var bits: [UInt8] = []
  private(set) var depth = 0

  /// The maximum depth.
  static let deepest = 65_536

  /// Whether the innermost bracket is an object. False if none is open.
  var isObject: Bool {
    guard depth > 0 else { return false }
    return bits[(depth - 1) / 8] & (1 << UInt8((depth - 1) % 8)) != 0
  }

  /// Opens a bracket. Returns false at the maximum depth.
  mutating func push(isObject: Bool) -> Bool {
    guard depth < Self.deepest else { return false }
    let (byte, mask) = (depth / 8, UInt8(1) << UInt8(depth % 8))
    if byte == bits.count { bits.append(0) }
    bits[byte] = isObject ? bits[byte] | mask : bits[byte] & ~mask
    depth += 1
    return true
  }

  mutating func pop() { depth -= 1 }
}
