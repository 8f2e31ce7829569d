internal import Bytes
internal import Mail
internal import Tree

/// A block of a mailbox's messages, with the numbers in their names.
struct MailboxBlock: Sendable {
  let number: Int
  let rows: [MessageRow]
  var numbers: [UInt32] = []

  /// The numbers in serialized form: the first one if they are consecutive, else all.
  var packedNumbers: [UInt8] {
    let isConsecutive = zip(numbers, numbers.dropFirst()).allSatisfy { $0 &+ 1 == $1 }
    return (isConsecutive ? numbers.prefix(1) : numbers[...]).reduce(into: []) { $0.append(littleEndian: $1) }
  }

  /// Returns the numbers of `count` messages. Returns `nil` if `bytes` are not from `packedNumbers`.
  static func numbers(_ bytes: ArraySlice<UInt8>, count: Int) -> [UInt32]? {
    guard bytes.count == 4 || bytes.count == 4 * count else { return nil }
    let numbers = stride(from: bytes.startIndex, to: bytes.endIndex, by: 4).map {
      UInt32(littleEndianBytes: bytes[$0...])
    }
    guard numbers.allSatisfy({ $0 > 0 && $0 < UInt32(Int32.max) - UInt32(BlockIndex.blockSize) }) else {
      return nil
    }
    return numbers.count == count ? numbers : (0..<UInt32(count)).map { numbers[0] + $0 }
  }
}
