public import Bytes
internal import Locks

/// An Outlook file with folders of messages (MS-PST): `.pst`, and `.ost` up to Outlook 2010.
///
/// Its parts are read on demand and validated independently of each other. Each search descends a tree level by level,
/// each list has a limit, and no data is larger than the file.
public final class StoreFile: Sendable {
  let source: any ByteSource
  let layout: StoreLayout
  private let cipher: StoreCipher
  private let nodeRoot: Int64
  private let blockRoot: Int64
  private let pages = UnfairLock<[Int64: [UInt8]]>([:])

  private static let mostPages = 4096
  private static let deepest = 10

  /// Reads the header. Throws `damaged`, `unsupported`, or a fault of the source.
  public init(_ source: any ByteSource) throws(Fault) {
    let head = try source.bytes(at: 0, count: Int(min(source.size, 564)))
    guard head.starts(with: Array("!BDN".utf8)), head.count >= 512 else {
      throw Fault(.damaged, "is not an Outlook data file", atByte: 0)
    }
    let version = head.u16(10)
    switch version {
    case 14, 15: layout = StoreLayout(isWide: false)
    case 16...24: layout = StoreLayout(isWide: true)
    case 36...37:
      throw Fault(.unsupported, "is in the format of Outlook 2013 and later for copies of server mailboxes (.ost)")
    default: throw Fault(.unsupported, "has version \(version), and only versions 14 to 24 are read", atByte: 10)
    }
    guard head.count >= layout.headerSize else { throw Fault(.damaged, "ends within its header") }
    guard let cipher = StoreCipher(rawValue: head[layout.cipher]) else {
      throw Fault(.unsupported, "is encrypted in an unknown way", atByte: Int64(layout.cipher))
    }
    self.source = source
    self.cipher = cipher
    nodeRoot = Int64(clamping: head.number(at: layout.nodeRoot + layout.word, layout.word))
    blockRoot = Int64(clamping: head.number(at: layout.blockRoot + layout.word, layout.word))
  }

  // MARK: Trees

  /// Returns a page of a B-tree.
  private func page(at place: Int64, _ type: UInt8) throws(Fault) -> [UInt8] {
    if let known = pages.withLock({ $0[place] }) { return known }
    guard place >= 0, place <= source.size - Int64(StoreLayout.pageSize) else {
      throw Fault(.damaged, "expected a page of its index, found its end", atByte: place)
    }
    let page = try source.bytes(at: place, count: StoreLayout.pageSize)
    guard page[layout.pageType] == type else { throw Fault(.damaged, "expected a page of its index", atByte: place) }
    pages.withLock { pages in
      if pages.count >= Self.mostPages { pages = [:] }
      pages[place] = page
    }
    return page
  }

  /// Returns the number of a page's entries (limited to those that fit), their size in bytes, and the page's level.
  private func shape(_ page: [UInt8]) -> (count: Int, size: Int, level: Int) {
    let size = page.u8(layout.pageCount + 2)
    let count = size == 0 ? 0 : min(page.u8(layout.pageCount), layout.pageCount / size)
    return (count, size, page.u8(layout.pageCount + 3))
  }

  /// Returns the leaf entry with a key. Returns `nil` if it does not exist.
  private func entry(_ key: UInt64, below root: Int64, _ type: UInt8) throws(Fault) -> [UInt8]? {
    var place = root
    var above = Self.deepest
    while true {
      let page = try page(at: place, type)
      let (count, size, level) = shape(page)
      guard level < above, size >= 3 * layout.word else {
        throw Fault(.damaged, "expected a page of its index below another", atByte: place)
      }
      above = level
      // Finds the last entry whose key is not larger.
      var (low, high) = (0, count)
      while low < high {
        let middle = (low + high) / 2
        if page.number(at: middle * size, layout.word) <= key { low = middle + 1 } else { high = middle }
      }
      guard low > 0 else { return nil }
      let start = (low - 1) * size
      if level == 0 {
        return page.number(at: start, layout.word) == key ? Array(page[start..<start + size]) : nil
      }
      place = Int64(clamping: page.number(at: start + 2 * layout.word, layout.word))
    }
  }

  // MARK: Nodes

  /// Returns the node with a number. Returns `nil` if it does not exist.
  public func node(_ number: UInt32) throws(Fault) -> StoreNode? {
    guard let entry = try entry(UInt64(number), below: nodeRoot, StoreLayout.nodePage) else { return nil }
    let word = layout.word
    return StoreNode(
      file: self, number: number, data: entry.number(at: word, word), inner: entry.number(at: 2 * word, word))
  }

  /// Returns the numbers of all nodes of a kind and of their parents. Unreadable pages are skipped.
  public func nodes(ofKind kind: UInt32, atMost most: Int) throws(Fault) -> [(number: UInt32, parent: UInt32)] {
    var found: [(UInt32, UInt32)] = []
    var seen: Set<Int64> = []
    var waiting: [(place: Int64, above: Int)] = [(nodeRoot, Self.deepest)]
    while let (place, above) = waiting.popLast() {
      guard seen.insert(place).inserted,
        let page = try unlessDelayed({ () throws(Fault) in
          try page(at: place, StoreLayout.nodePage)
        })
      else { continue }
      let (count, size, level) = shape(page)
      guard level < above, size >= 3 * layout.word else { continue }
      for index in (0..<count).reversed() where level > 0 {
        waiting.append((Int64(clamping: page.number(at: index * size + 2 * layout.word, layout.word)), level))
      }
      for start in stride(from: 0, to: count * size, by: size) where level == 0 {
        let number = page.u32(start)
        guard number & 0x1f == kind else { continue }
        if found.count >= most { return found }
        found.append((number, page.u32(start + 3 * layout.word)))
      }
    }
    return found
  }

  // MARK: Blocks

  /// Returns a block of data, or of a list if `isList`.
  func block(_ number: UInt64, isList: Bool) throws(Fault) -> [UInt8] {
    guard let (place, size) = try place(of: number), (number & 2 != 0) == isList else {
      throw Fault(.damaged, "has no block \(number)")
    }
    let bytes = try source.bytes(at: place, count: size)
    return isList ? bytes : cipher.opened(bytes, of: number & ~1)
  }

  /// Returns the offset of a block and its size in bytes. Returns `nil` if it does not exist.
  func place(of number: UInt64) throws(Fault) -> (place: Int64, size: Int)? {
    guard let entry = try entry(number & ~1, below: blockRoot, StoreLayout.blockPage) else { return nil }
    let place = Int64(clamping: entry.number(at: layout.word, layout.word))
    let size = entry.u16(2 * layout.word)
    guard place >= 0, place <= source.size - Int64(size) else {
      throw Fault(.damaged, "expected a block of \(size) bytes, found the file's end", atByte: place)
    }
    return (place, size)
  }
}
