internal import Catalogue
internal import WorkerKit

/// Reads numbers from an input; 0 before its start or beyond its end.
struct InputReader {
  private let input: JobInput
  private let isBigEndian: Bool
  let count: Int

  init(_ input: JobInput, isBigEndian: Bool = false) {
    self.input = input
    self.isBigEndian = isBigEndian
    count = input.count
  }

  func byte(_ offset: Int) -> UInt8 {
    // A negative offset is beyond any end.
    unsafe UInt(bitPattern: offset) < UInt(bitPattern: count) ? input.bytes[offset] : 0
  }

  /// A number of `size` bytes; eight bytes may yield a negative number.
  func word(_ offset: Int, _ size: Int) -> Int {
    guard offset >= 0, offset < count else { return 0 }
    return (0..<size).reduce(0) { $0 | Int(byte(offset + $1)) << (8 * (isBigEndian ? size - 1 - $1 : $1)) }
  }

  func signed(_ offset: Int) -> Int { Int(Int32(truncatingIfNeeded: word(offset, 4))) }
}
