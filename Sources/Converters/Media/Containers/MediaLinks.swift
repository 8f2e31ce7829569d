internal import Bytes
internal import CFFmpeg
internal import Catalogue
internal import Glibc
internal import WorkerKit

/// The positions of several complete files in a row in one, as radio recorders write them: chained Ogg (RFC 3533, 4),
/// chained Matroska, and FLAC.
struct MediaLinks {
  private let input: JobInput
  private let size: Int

  /// The maximum number of files in a row.
  private static let most = 10_000
  private static let chunkSize = 1 << 20

  /// Returns the range of each file, in order. A file that is alone has one range.
  static func ranges(in input: JobInput) throws(JobFailure) -> [Range<Int>] {
    let links = MediaLinks(input)
    let starts: [Int] =
      switch links.bytes(at: 0, count: 4) {
      case ogg: try links.oggStarts()
      case matroska: try links.matroskaStarts()
      case flac: try links.flacStarts()
      default: []
      }
    let all = [0] + starts
    return zip(all, starts + [input.count]).map { $0..<$1 }
  }

  private init(_ input: JobInput) {
    self.input = input
    size = input.count
  }

  private func bytes(at place: Int, count: Int) -> [UInt8] {
    input.read(count, at: place)
  }

  private func add(_ place: Int, to starts: inout [Int]) throws(JobFailure) {
    guard starts.count < Self.most else {
      throw JobFailure(.limit, "has more than \(Self.most) recordings in a row")
    }
    starts.append(place)
  }

  /// Returns the next offset of `mark` from `place` on. Returns `nil` if there is none.
  private func next(_ mark: [UInt8], from place: Int) -> Int? {
    var place = place
    while place < size {
      let chunk = bytes(at: place, count: min(Self.chunkSize, size - place))
      guard chunk.count >= mark.count else { return nil }
      if let found = Self.find(mark, in: chunk) { return place + found }
      place += chunk.count - mark.count + 1
    }
    return nil
  }

  private static func find(_ mark: [UInt8], in chunk: [UInt8]) -> Int? {
    unsafe chunk.withUnsafeBytes { bytes in
      var place = 0
      while place + mark.count <= bytes.count, let start = bytes.baseAddress {
        let rest = bytes.count - mark.count + 1 - place
        guard let hit = unsafe memchr(start + place, Int32(mark[0]), rest) else { return nil }
        place = unsafe UnsafeRawPointer(hit) - start
        if unsafe bytes[place...].starts(with: mark) { return place }
        place += 1
      }
      return nil
    }
  }

  // MARK: Ogg

  private static let ogg = Array("OggS".utf8)
  private static let pageHead = 27
  private static let mostSegments = 255
  private static let beginsStream: UInt8 = 2

  /// Returns the first page from `place` on: its offset, its head with the lengths of its segments, and the size that
  /// the head records. Returns `nil` if there is none.
  private func nextPage(from place: Int) -> (place: Int, head: [UInt8], size: Int)? {
    var place = place
    while place < size {
      let head = bytes(at: place, count: Self.pageHead + Self.mostSegments)
      guard head.count >= Self.pageHead else { return nil }
      if head.starts(with: Self.ogg) {
        let segments = Int(head[26])
        let body = head.dropFirst(Self.pageHead).prefix(segments).reduce(0) { $0 + Int($1) }
        return (place, head, Self.pageHead + segments + body)
      }
      guard let found = next(Self.ogg, from: place + 1) else { return nil }
      place = found
    }
    return nil
  }

  /// A stream that begins after pages of another one belongs to the next file.
  private func oggStarts() throws(JobFailure) -> [Int] {
    var starts: [Int] = []
    var place = 0
    var isAmongFirst = true
    while let page = nextPage(from: place) {
      let begins = page.head[5] & Self.beginsStream != 0
      if begins, !isAmongFirst { try add(page.place, to: &starts) }
      isAmongFirst = begins
      place = page.place + page.size
    }
    return starts
  }

  /// Returns the number of pages of an Ogg file whose checksums are wrong, which are not read. 0 for other files.
  static func damagedPages(in input: JobInput) -> Int {
    let links = MediaLinks(input)
    guard links.bytes(at: 0, count: 4) == ogg, let table = unsafe av_crc_get_table(AV_CRC_32_IEEE) else { return 0 }
    var (place, damaged) = (0, 0)
    while let page = links.nextPage(from: place) {
      var bytes = links.bytes(at: page.place, count: page.size)
      // A page that is longer than the file has a wrong head. Another can follow it.
      guard bytes.count == page.size else {
        place = page.place + 1
        continue
      }
      let told = UInt32(bigEndianBytes: bytes[22..<26])
      bytes.replaceSubrange(22..<26, with: [0, 0, 0, 0])
      if unsafe av_crc(table, 0, bytes, page.size) != told { damaged += 1 }
      place = page.place + page.size
    }
    return damaged
  }

  // MARK: Matroska

  private static let matroska: [UInt8] = [0x1a, 0x45, 0xdf, 0xa3]
  private static let segment: [UInt8] = [0x18, 0x53, 0x80, 0x67]

  /// A header follows a segment that records its size.
  private func matroskaStarts() throws(JobFailure) -> [Int] {
    var starts: [Int] = []
    var place = 0
    while place < size, let head = element(at: place), head.id == Self.matroska, let body = element(at: head.end),
      body.id == Self.segment
    {
      place = body.end
      if bytes(at: place, count: 4) == Self.matroska { try add(place, to: &starts) }
    }
    return starts
  }

  /// Returns the name and end of an EBML element whose name has four bytes (RFC 8794, 4). Returns `nil` if there is
  /// none or its size is unknown.
  private func element(at place: Int) -> (id: [UInt8], end: Int)? {
    let head = bytes(at: place, count: 12)
    guard head.count > 5 else { return nil }
    let length = head[4].leadingZeroBitCount + 1
    guard length <= 8, head.count >= 4 + length else { return nil }
    let mask = UInt64(1) << UInt64(7 * length) - 1
    let value = UInt64(bigEndianBytes: head[4..<4 + length]) & mask
    guard value != mask, value <= UInt64(size) else { return nil }
    return (Array(head.prefix(4)), place + 4 + length + Int(value))
  }

  // MARK: FLAC

  private static let flac = Array("fLaC".utf8)
  /// The mark and the head of the block that follows it, whether or not that is the only one.
  private static let flacHeads = [[0, 0, 0, 34], [0x80, 0, 0, 34]].map { flac + $0 }

  /// The frames do not record their sizes. They are searched only if they are larger than the header permits.
  private func flacStarts() throws(JobFailure) -> [Int] {
    let head = bytes(at: 0, count: 42)
    guard head.count == 42, Self.flacHeads.contains(Array(head.prefix(8))) else { return [] }
    func number(_ range: Range<Int>) -> Int { Int(bigEndianBytes: head[range]) }
    let (block, longest) = (number(8..<10), number(15..<18))
    let (channels, bits) = (Int(head[20] >> 1 & 7) + 1, Int(head[20] & 1) << 4 + Int(head[21] >> 4) + 1)
    let samples = Int(head[21] & 15) << 32 + number(22..<26)
    guard samples > 0, block > 0 else { return [] }
    var place = 4
    while true {
      let head = bytes(at: place, count: 4)
      guard head.count == 4 else { return [] }
      place += 4 + Int(bigEndianBytes: head[1..<4])
      if head[0] & 0x80 != 0 { break }
    }
    let frames = (samples + block - 1) / block
    let frame = longest > 0 ? longest : block * channels * (bits + 1) / 8 + 64
    guard size - place > frames * frame else { return [] }
    var starts: [Int] = []
    while let found = next(Self.flac, from: place) {
      if Self.flacHeads.contains(bytes(at: found, count: 8)) { try add(found, to: &starts) }
      place = found + 4
    }
    return starts
  }
}
