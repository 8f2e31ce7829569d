internal import Bytes
internal import Index
internal import Tree

/// The block index of a mailbox: the offsets of the blocks of messages found so far.
struct BlockIndex: Sendable, Equatable {
  /// A hash of the start of the file, by which an unchanged start is recognized.
  struct Hash: Sendable, Equatable {
    /// The length of the hashed start of the file, in bytes.
    var size: Int64 = 0
    /// The CRC-32 of those bytes.
    var value: UInt32 = 0
  }

  static let blockSize = 512

  /// The offset of the first separator of each block of `blockSize` messages; the last may be shorter.
  var blocks: [Int64] = []
  /// The number of messages in all blocks.
  var count = 0
  /// The offset of the next block, or the end of the file.
  var end: Int64 = 0
  /// Whether every message has been found.
  var isWhole = false
  /// The hash of at least all bytes from which the blocks were derived.
  var hash = Hash()

  /// The block index without its last block, which may have been truncated at the file's end.
  var withoutLast: BlockIndex {
    var shorter = self
    shorter.isWhole = false
    shorter.end = shorter.blocks.popLast() ?? 0
    shorter.count = shorter.blocks.count * Self.blockSize
    return shorter
  }

  /// The block index up to the offset at which the search resumes: without the last block if that is partial.
  var withoutRest: BlockIndex { count % Self.blockSize == 0 ? self : withoutLast }
}

extension BlockIndex.Hash {
  /// The serialized form for the index.
  var packed: [UInt8] { [UInt8](bigEndian: [UInt64(bitPattern: size), UInt64(value)]) }

  /// Parses the output of `packed`. Returns `nil` if it is malformed or the size is out of bounds (`Bounds`).
  init?(packed bytes: [UInt8]) {
    guard bytes.count == 16, let value = UInt32(exactly: UInt64(bigEndianBytes: bytes.dropFirst(8))) else { return nil }
    let size = Int64(bigEndianBytes: bytes)
    guard Bounds.holds(size) else { return nil }
    self.init(size: size, value: value)
  }
}

extension BlockIndex {
  /// The serialized form for the index: 64-bit words, little-endian.
  var packed: [UInt8] {
    var words = [UInt64(bitPattern: end), isWhole ? 1 : 0, UInt64(count)]
    words += [UInt64(bitPattern: hash.size), UInt64(hash.value)]
    words += blocks.map { UInt64(bitPattern: $0) }
    return [UInt8](littleEndian: words)
  }

  /// Parses the output of `packed`. Returns `nil` if it is malformed or a value is out of bounds (`Bounds`).
  init?(packed bytes: ArraySlice<UInt8>) {
    guard bytes.count % 8 == 0, bytes.count >= 40 else { return nil }
    let words = stride(from: bytes.startIndex, to: bytes.endIndex, by: 8).map {
      UInt64(littleEndianBytes: bytes[$0..<$0 + 8])
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
    // Every block except the last is full.
    guard count > (blocks.count - 1) * Self.blockSize, blocks.isEmpty == (count == 0) else { return nil }
  }
}
