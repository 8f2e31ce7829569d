internal import Bytes

/// The heap of properties and tables in a node's data (MS-PST, section 2.3.1).
struct StoreHeap {
  private let data: StoreData
  private var known: [Int: [UInt8]] = [:]
  /// The kind of content: properties or a table.
  let kind: Int
  /// The number of the root allocation, which leads to all others.
  let root: UInt32

  static let properties = 0xbc
  static let table = 0x7c

  init(_ node: StoreNode) throws(Fault) {
    data = try node.blocks()
    let first = try data.block(0)
    guard first.count >= 12, first[2] == 0xec else { throw Fault(.damaged, "expected a heap in node \(node.number)") }
    kind = first.u8(3)
    root = first.u32(4)
    known[0] = first
  }

  /// Returns the allocation with a number. Returns an empty array for 0.
  mutating func bytes(_ number: UInt32) throws(Fault) -> [UInt8] {
    if number == 0 { return [] }
    let (index, place) = (Int(number >> 5 & 0x7ff), Int(number >> 16))
    let block: [UInt8]
    if let cached = known[place] {
      block = cached
    } else {
      block = try data.block(place)
      known[place] = block
    }
    let map = block.u16(0)
    guard number & 0x1f == 0, index > 0, index <= block.u16(map) else {
      throw Fault(.damaged, "has nothing under \(number) in a heap")
    }
    let (start, end) = (block.u16(map + 2 + 2 * index), block.u16(map + 4 + 2 * index))
    guard start <= end, end <= block.count else { throw Fault(.damaged, "has nothing under \(number) in a heap") }
    return Array(block[start..<end])
  }

  /// Returns the records of a tree in the heap (section 2.3.2), each beginning with its key, and their size in bytes.
  mutating func records(of tree: UInt32, keySize: Int, atMost most: Int) throws(Fault) -> (size: Int, bytes: [UInt8]) {
    let head = try bytes(tree)
    let size = head.u8(1) + head.u8(2)
    guard head.count >= 8, head[0] == 0xb5, head.u8(1) == keySize, size > keySize else {
      throw Fault(.damaged, "expected a tree in a heap")
    }
    let levels = head.u8(3)
    guard levels <= 8 else { throw Fault(.damaged, "expected a tree in a heap") }
    var numbers = [head.u32(4)]
    var seen: Set<UInt32> = []
    for _ in 0..<levels {
      var below: [UInt32] = []
      for number in numbers where seen.insert(number).inserted {
        let list = try bytes(number)
        for start in stride(from: 0, through: list.count - keySize - 4, by: keySize + 4) {
          below.append(list.u32(start + keySize))
        }
      }
      numbers = below
    }
    var found: [UInt8] = []
    for number in numbers where seen.insert(number).inserted {
      let some = try bytes(number)
      found += some.prefix(some.count / size * size)
      guard found.count / size <= most else { throw Fault(.limit, "has more than \(most) records in a tree") }
    }
    return (size, found)
  }
}
