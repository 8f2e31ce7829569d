public import Bytes

/// A node: data and subnodes (MS-PST, section 2.2.1).
public struct StoreNode: Sendable {
  let file: StoreFile
  public let number: UInt32
  /// The number of the block that contains the data, or lists its blocks. 0 for none.
  let data: UInt64
  /// The number of the block that lists the subnodes. 0 for none.
  let inner: UInt64

  /// The maximum number of subnodes.
  private static let most = 1 << 18

  /// The kinds of nodes: the low five bits of their numbers.
  public enum Kind {
    public static let folder: UInt32 = 2
    public static let message: UInt32 = 4
    public static let attachment: UInt32 = 5
  }

  // MARK: Data

  /// Returns the blocks of the data, with their sizes in bytes.
  func blocks() throws(Fault) -> StoreData {
    if data == 0 { return StoreData(file: file, blocks: []) }
    if data & 2 == 0 {
      guard let (_, size) = try file.place(of: data) else { throw Fault(.damaged, "has no block \(data)") }
      return StoreData(file: file, blocks: [(data, 0, size)])
    }
    var blocks: [(number: UInt64, start: Int64, size: Int)] = []
    var total: Int64 = 0
    for number in try numbers(in: data, level: nil) {
      guard let (_, size) = try file.place(of: number) else { throw Fault(.damaged, "has no block \(number)") }
      blocks.append((number, total, size))
      total += Int64(size)
      // Each block occurs once.
      guard total <= file.source.size else { throw Fault(.damaged, "claims data that are larger than the file") }
    }
    return StoreData(file: file, blocks: blocks)
  }

  /// Returns the data blocks of a list, including those of its nested lists.
  private func numbers(in list: UInt64, level: Int?) throws(Fault) -> [UInt64] {
    let block = try file.block(list, isList: true)
    let isKnown = block.u8(0) == 1 && (1...2).contains(block.u8(1)) && (level == nil || block.u8(1) == level)
    guard isKnown else { throw Fault(.damaged, "expected a list of blocks in block \(list)") }
    let word = file.layout.word
    let count = min(block.u16(2), (block.count - StoreLayout.blockListHead) / word)
    let numbers = (0..<max(0, count)).map { block.number(at: StoreLayout.blockListHead + $0 * word, word) }
    if block.u8(1) == 1 { return numbers }
    var all: [UInt64] = []
    for number in numbers {
      all += try self.numbers(in: number, level: 1)
      guard Int64(all.count) <= file.source.size / 64 + 1 else {
        throw Fault(.damaged, "claims data that are larger than the file")
      }
    }
    return all
  }

  // MARK: Nodes

  /// Returns the subnodes by their numbers.
  func nodes() throws(Fault) -> [UInt32: StoreNode] {
    if inner == 0 { return [:] }
    var found: [UInt32: StoreNode] = [:]
    try add(inner, isTop: true, to: &found)
    return found
  }

  private func add(_ list: UInt64, isTop: Bool, to found: inout [UInt32: StoreNode]) throws(Fault) {
    let block = try file.block(list, isList: true)
    let (head, word) = (file.layout.nodeListHead, file.layout.word)
    let level = block.u8(1)
    guard block.u8(0) == 2, level == 0 || level == 1 && isTop else {
      throw Fault(.damaged, "expected a list of nodes in block \(list)")
    }
    let size = (level == 0 ? 3 : 2) * word
    for index in 0..<max(0, min(block.u16(2), (block.count - head) / size)) {
      let start = head + index * size
      let other = block.number(at: start + word, word)
      guard level == 0 else {
        try add(other, isTop: false, to: &found)
        continue
      }
      guard found.count < Self.most else { throw Fault(.limit, "has more than \(Self.most) nodes in one node") }
      let number = block.u32(start)
      found[number] = StoreNode(
        file: file, number: number, data: other, inner: block.number(at: start + 2 * word, word))
    }
  }
}

/// The data of a node, in blocks.
public struct StoreData: Sendable {
  let file: StoreFile
  let blocks: [(number: UInt64, start: Int64, size: Int)]

  /// The size in bytes.
  public var size: Int64 { blocks.last.map { $0.start + Int64($0.size) } ?? 0 }

  /// Returns the bytes of a block.
  func block(_ index: Int) throws(Fault) -> [UInt8] {
    guard blocks.indices.contains(index) else { throw Fault(.damaged, "expected a block of data") }
    return try file.block(blocks[index].number, isList: false)
  }

  /// Calls `body` with the bytes, piece by piece. Returns the fault that ended the reading.
  public func forEachPiece<Failure: Error>(
    _ body: ([UInt8]) throws(Failure) -> Void
  ) throws(Failure) -> Fault? {
    for index in blocks.indices {
      let piece: [UInt8]
      do throws(Fault) { piece = try block(index) } catch { return error }
      try body(piece)
    }
    return nil
  }

  /// Returns all bytes. Returns `nil` if there are more than `most`.
  func all(atMost most: Int) throws(Fault) -> [UInt8]? {
    guard size <= Int64(most) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Int(size))
    for index in blocks.indices { bytes += try block(index) }
    return bytes
  }
}
