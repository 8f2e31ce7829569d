internal import Catalogue
internal import WorkerKit

/// A reader of numbers in an input. Bytes outside the input are 0.
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

  /// Returns a number of `size` bytes. Eight bytes may yield a negative number.
  func word(_ offset: Int, _ size: Int) -> Int {
    guard offset >= 0, offset < count else { return 0 }
    return (0..<size).reduce(0) { $0 | Int(byte(offset + $1)) << (8 * (isBigEndian ? size - 1 - $1 : $1)) }
  }

  func signed(_ offset: Int) -> Int { Int(Int32(truncatingIfNeeded: word(offset, 4))) }
}
