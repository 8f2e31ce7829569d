internal import Bytes
internal import Files

/// Where a mailbox's messages lie, block by block, as far as they have been found.
struct MailboxDirectory: Sendable, Equatable {
  /// A run of `blockSize` messages; the last may be shorter.
  struct Block: Sendable, Equatable {
    /// Where its first separator stands.
    var start: Int64
    /// What stands there, to find out whether it still does.
    var sample: UInt64
  }

  static let blockSize = 512
  /// How much of a block's start goes into its sample, in bytes.
  static let sampleSize = 1024

  var blocks: [Block] = []
  /// Messages in all blocks.
  var count = 0
  /// Where the next block starts, or the file ends.
  var end: Int64 = 0
  /// Whether every message has been found.
  var isWhole = false

  /// The directory without its last block, which may have been cut short by the file's end.
  var withoutLast: MailboxDirectory {
    var shorter = self
    shorter.isWhole = false
    shorter.end = shorter.blocks.popLast()?.start ?? 0
    shorter.count = shorter.blocks.count * Self.blockSize
    return shorter
  }

  static func sample(of bytes: any ByteSource, at start: Int64) throws(Fault) -> UInt64 {
    let count = Int(min(Int64(sampleSize), max(0, bytes.size - start)))
    var hash = StableHash()
    hash.combine(try bytes.bytes(at: start, count: count))
    return hash.value
  }

  /// Whether each block still starts as it did, and the next one where the last ends.
  func holds(in bytes: any ByteSource) throws(Fault) -> Bool {
    for block in blocks {
      guard block.start < bytes.size, try Self.sample(of: bytes, at: block.start) == block.sample else { return false }
    }
    return end <= bytes.size
  }
}

extension MailboxDirectory {
  /// For the index: 64-bit words, little-endian.
  var packed: [UInt8] {
    var words = [UInt64(bitPattern: end), isWhole ? 1 : 0, UInt64(count)]
    for block in blocks { words += [UInt64(bitPattern: block.start), block.sample] }
    return words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
  }

  /// nil for what `packed` never gives.
  init?(packed bytes: ArraySlice<UInt8>) {
    guard bytes.count % 8 == 0, bytes.count >= 24 else { return nil }
    let words = stride(from: bytes.startIndex, to: bytes.endIndex, by: 8).map { start in
      bytes[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
    end = Int64(bitPattern: words[0])
    isWhole = words[1] == 1
    guard words.count % 2 == 1, words[2] <= UInt64((words.count - 3) / 2 * Self.blockSize) else { return nil }
    count = Int(words[2])
    var before: Int64 = -1
    for place in stride(from: 3, to: words.count, by: 2) {
      let block = Block(start: Int64(bitPattern: words[place]), sample: words[place + 1])
      guard block.start > before, block.start < end else { return nil }
      before = block.start
      blocks.append(block)
    }
    // Every block but the last is full.
    guard count > (blocks.count - 1) * Self.blockSize, blocks.isEmpty == (count == 0) else { return nil }
  }
}
