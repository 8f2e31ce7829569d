internal import Bytes

/// The layout of the two kinds of files. Block numbers and file offsets have four bytes, or eight (MS-PST, section
/// 2.2.2).
struct StoreLayout {
  let isWide: Bool

  /// The size of a block number, of a file offset, and of a node number that is a key, in bytes.
  var word: Int { isWide ? 8 : 4 }
  /// The offsets of the header's references to the tree of nodes and to the tree of blocks.
  var nodeRoot: Int { isWide ? 216 : 184 }
  var blockRoot: Int { isWide ? 232 : 192 }
  var cipher: Int { isWide ? 513 : 461 }
  var headerSize: Int { isWide ? 564 : 512 }

  static let pageSize = 512
  /// The offset in a page of its number of entries, which is followed by their size and the page's level.
  var pageCount: Int { isWide ? 488 : 496 }
  /// The page types of each tree.
  static let blockPage: UInt8 = 0x80
  static let nodePage: UInt8 = 0x81
  var pageType: Int { isWide ? 496 : 500 }

  /// The sizes of the headers of a list of blocks and of a list of subnodes, in bytes.
  static let blockListHead = 8
  var nodeListHead: Int { isWide ? 8 : 4 }
}

extension [UInt8] {
  /// Returns a little-endian number of `size` bytes. Returns 0 if it is not within the array.
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
