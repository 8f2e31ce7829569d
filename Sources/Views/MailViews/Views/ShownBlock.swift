internal import Bytes
internal import Mail
internal import Tree

/// What views show of a block of messages, stored compactly: listing one sender's messages needs a few of every block.
struct ShownBlock: Sendable {
  /// The folders' names, concatenated, and their end offsets.
  private let names: [UInt8]
  private let ends: [UInt32]
  private let stretches: [ShownMessage.Chunk]

  /// The cache's capacity over all mailboxes, in bytes: for some 100,000 messages.
  static let roomForAll = 12 << 20

  /// `first` is the position of the block's first message.
  init(_ rows: [MessageRow], first: Int) {
    var names: [UInt8] = []
    var ends: [UInt32] = []
    for (index, row) in rows.enumerated() {
      names += row.folderName(position: first + index + 1).bytes
      ends.append(UInt32(names.count))
    }
    self.names = names
    self.ends = ends
    stretches = rows.map { ShownMessage.Chunk($0) }
  }

  var count: Int { ends.count }
  /// The approximate size in memory, in bytes.
  var cost: Int { names.count + ends.count * (4 + MemoryLayout<ShownMessage.Chunk>.stride) }

  func name(_ index: Int) -> ArraySlice<UInt8> { names[(index == 0 ? 0 : Int(ends[index - 1]))..<Int(ends[index])] }
  func stretch(_ index: Int) -> ShownMessage.Chunk { stretches[index] }
}
