internal import Bytes
internal import Index
internal import Tree

/// Where a mailbox's messages lie, block by block, as far as they have been found.
struct MailboxDirectory: Sendable, Equatable {
  /// What tells whether the file still starts as it did.
  struct Hash: Sendable, Equatable {
    /// How much of the file it is of, from its start, in bytes.
    var size: Int64 = 0
    /// CRC-32.
    var value: UInt32 = 0
  }

  static let blockSize = 512

  /// Where each run of `blockSize` messages, of which the last may be shorter, has its first separator.
  var blocks: [Int64] = []
  /// Messages in all blocks.
  var count = 0
  /// Where the next block starts, or the file ends.
  var end: Int64 = 0
  /// Whether every message has been found.
  var isWhole = false
  /// Of everything that the blocks were made of, at least.
  var hash = Hash()

  /// The directory without its last block, which may have been cut short by the file's end.
  var withoutLast: MailboxDirectory {
    var shorter = self
    shorter.isWhole = false
    shorter.end = shorter.blocks.popLast() ?? 0
    shorter.count = shorter.blocks.count * Self.blockSize
    return shorter
  }

  /// The directory up to where the search goes on: without a last block that is not full.
  var withoutRest: MailboxDirectory { count % Self.blockSize == 0 ? self : withoutLast }
}

extension MailboxDirectory.Hash {
  /// For the index.
  var packed: [UInt8] { IndexedFile.bytes([UInt64(bitPattern: size), UInt64(value)]) }

  /// nil for what `packed` never gives. A door.
  init?(packed bytes: [UInt8]) {
    guard bytes.count == 16, let value = UInt32(exactly: IndexedFile.word(bytes.dropFirst(8))) else { return nil }
    let size = Int64(bitPattern: IndexedFile.word(bytes))
    guard Bounds.holds(size) else { return nil }
    self.init(size: size, value: value)
  }
}

extension MailboxDirectory {
  /// For the index: 64-bit words, little-endian.
  var packed: [UInt8] {
    var words = [UInt64(bitPattern: end), isWhole ? 1 : 0, UInt64(count)]
    words += [UInt64(bitPattern: hash.size), UInt64(hash.value)]
    words += blocks.map { UInt64(bitPattern: $0) }
    return words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
  }

  /// nil for what `packed` never gives. A door.
  init?(packed bytes: ArraySlice<UInt8>) {
    guard bytes.count % 8 == 0, bytes.count >= 40 else { return nil }
    let words = stride(from: bytes.startIndex, to: bytes.endIndex, by: 8).map { start in
      bytes[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
    end = Int64(bitPattern: words[0])
    isWhole = words[1] == 1
    guard words[2] <= UInt64((words.count - 5) * Self.blockSize), words[4] <= UInt32.max else { return nil }
    count = Int(words[2])
    hash = Hash(size: Int64(bitPattern: words[3]), value: UInt32(words[4]))
    guard Bounds.holds(end), Bounds.holds(hash.size), hash.size >= end else { return nil }
    var before: Int64 = -1
    for word in words[5...] {
      let block = Int64(bitPattern: word)
      guard block > before, block < end else { return nil }
      before = block
      blocks.append(block)
    }
    // Every block but the last is full.
    guard count > (blocks.count - 1) * Self.blockSize, blocks.isEmpty == (count == 0) else { return nil }
  }
}
