internal import Bytes

/// Where numbers stand in the two kinds of files: numbers of blocks and places have four bytes, or eight (MS-PST, section
/// 2.2.2).
struct StoreLayout {
  let isWide: Bool

  /// Of a number of a block, of a place, and of a node where it is a key, in bytes.
  var word: Int { isWide ? 8 : 4 }
  /// The root's references in the header: to the tree of nodes, to that of blocks.
  var nodeRoot: Int { isWide ? 216 : 184 }
  var blockRoot: Int { isWide ? 232 : 192 }
  var cipher: Int { isWide ? 513 : 461 }
  var headerSize: Int { isWide ? 564 : 512 }

  static let pageSize = 512
  /// Where a page says how many entries it has, and then their size, and its level.
  var pageCount: Int { isWide ? 488 : 496 }
  /// Of a page of each tree.
  static let blockPage: UInt8 = 0x80
  static let nodePage: UInt8 = 0x81
  var pageType: Int { isWide ? 496 : 500 }

  /// What stands before the entries of a list of blocks, and of one of inner nodes, in bytes.
  static let blockListHead = 8
  var nodeListHead: Int { isWide ? 8 : 4 }
}

extension [UInt8] {
  /// A number of `size` bytes, the lowest first; 0 where there are none.
  func number(at place: Int, _ size: Int) -> UInt64 {
    guard place >= 0, place <= count - size else { return 0 }
    var number: UInt64 = 0
    for index in 0..<size { number |= UInt64(self[place + index]) << UInt64(8 * index) }
    return number
  }

  func u8(_ place: Int) -> Int { Int(number(at: place, 1)) }
  func u16(_ place: Int) -> Int { Int(number(at: place, 2)) }
  func u32(_ place: Int) -> UInt32 { UInt32(truncatingIfNeeded: number(at: place, 4)) }
}
