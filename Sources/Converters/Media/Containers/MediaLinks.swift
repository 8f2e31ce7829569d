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
  /// The maximum number of streams among whose pages missing ones are looked for.
  private static let mostStreams = 1000
  private static let beginsStream: UInt8 = 2
  private static let endsStream: UInt8 = 4

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

  /// The pages of an Ogg file that are damaged or missing.
  struct OggPages {
    /// The number of pages whose checksums are wrong, which are not read, and of those that are missing between others.
    fileprivate(set) var lost = 0
    /// The number of the first page after the headers, if it is not the next one.
    fileprivate(set) var first: UInt32?
    /// Whether the last page of a stream is not marked as that.
    fileprivate(set) var isOpen = false
    /// Whether the numbers of pages repeat or go back.
    fileprivate(set) var isDisordered = false
  }

  /// Returns the lacks of an Ogg file. None for other files.
  static func pages(of input: JobInput) -> OggPages {
    var pages = OggPages()
    let links = MediaLinks(input)
    guard links.bytes(at: 0, count: 4) == ogg, let table = unsafe av_crc_get_table(AV_CRC_32_IEEE) else { return pages }
    var (place, isCut) = (0, false)
    // The numbers of the last pages and whether they have samples, by the numbers of their streams.
    var last: [UInt32: (number: UInt32, hasSamples: Bool)] = [:]
    var open: Set<UInt32> = []
    while let page = links.nextPage(from: place) {
      var bytes = links.bytes(at: page.place, count: page.size)
      // A page that is longer than the file has a wrong head, and another can follow it, or the file is cut off.
      isCut = bytes.count != page.size
      if isCut {
        place = page.place + 1
        continue
      }
      let told = UInt32(bigEndianBytes: bytes[22..<26])
      bytes.replaceSubrange(22..<26, with: [0, 0, 0, 0])
      let isRight = unsafe av_crc(table, 0, bytes, page.size) == told
      let (stream, number) = (UInt32(littleEndianBytes: bytes[14...]), UInt32(littleEndianBytes: bytes[18...]))
      if !isRight {
        pages.lost += 1
        // It is not missing, too.
        last[stream]?.number &+= 1
      } else if last[stream] != nil || last.count < mostStreams {
        let hasSamples = UInt64(littleEndianBytes: bytes[6...]) > 0
        if let before = last[stream], hasSamples, number > before.number, number - before.number > 1 {
          if before.hasSamples { pages.lost += Int(number - before.number) - 1 } else { pages.first = number }
        }
        if let before = last[stream], number <= before.number { pages.isDisordered = true }
        last[stream] = (number, hasSamples)
        if bytes[5] & endsStream != 0 { open.remove(stream) } else { open.insert(stream) }
      }
      place = page.place + page.size
    }
    if isCut { pages.lost += 1 }
    pages.isOpen = pages.lost == 0 && !open.isEmpty
    return pages
  }

  // MARK: Matroska

  private static let matroska: [UInt8] = [0x1a, 0x45, 0xdf, 0xa3]
  private static let segment: [UInt8] = [0x18, 0x53, 0x80, 0x67]

  /// A header follows a segment. The size of a segment is unknown if it was recorded while it was sent.
  private func matroskaStarts() throws(JobFailure) -> [Int] {
    var starts: [Int] = []
    var next = segment(at: 0)
    while let segment = next {
      if let end = segment.end {
        next = self.segment(at: end)
        if next != nil { try add(end, to: &starts) }
        continue
      }
      var place = segment.start
      next = nil
      while next == nil, let found = self.next(Self.matroska, from: place) {
        next = self.segment(at: found)
        if next != nil { try add(found, to: &starts) }
        place = found + 4
      }
    }
    return starts
  }

  /// Returns the range of the segment whose header is at an offset. Returns `nil` if there is none.
  private func segment(at place: Int) -> (start: Int, end: Int?)? {
    guard let head = element(at: place), head.id == Self.matroska, let start = head.end,
      let body = element(at: start), body.id == Self.segment
    else { return nil }
    return (body.start, body.end)
  }

  /// Returns the name and range of an EBML element whose name has four bytes (RFC 8794, 4). The end is `nil` if the size
  /// is unknown. Returns `nil` if there is no element.
  private func element(at place: Int) -> (id: [UInt8], start: Int, end: Int?)? {
    let head = bytes(at: place, count: 12)
    guard head.count > 5 else { return nil }
    let length = head[4].leadingZeroBitCount + 1
    guard length <= 8, head.count >= 4 + length else { return nil }
    let mask = UInt64(1) << UInt64(7 * length) - 1
    let value = UInt64(bigEndianBytes: head[4..<4 + length]) & mask
    let start = place + 4 + length
    if value == mask { return (Array(head.prefix(4)), start, nil) }
    return value <= UInt64(size) ? (Array(head.prefix(4)), start, start + Int(value)) : nil
  }

  // MARK: FLAC

  private static let flac = Array("fLaC".utf8)
  /// The mark and the head of the block that follows it, whether or not that is the only one.
  private static let flacHeads = [[0, 0, 0, 34], [0x80, 0, 0, 34]].map { flac + $0 }

  /// The frames do not record their sizes. They are searched only if they are larger than the header permits, or if the
  /// last one is not the header's.
  private func flacStarts() throws(JobFailure) -> [Int] {
    let head = bytes(at: 0, count: 42)
    guard head.count == 42, Self.flacHeads.contains(Array(head.prefix(8))) else { return [] }
    func number(_ range: Range<Int>) -> Int { Int(bigEndianBytes: head[range]) }
    let (block, longest) = (number(8..<10), number(15..<18))
    let (channels, bits) = (Int(head[20] >> 1 & 7) + 1, Int(head[20] & 1) << 4 + Int(head[21] >> 4) + 1)
    let samples = Int(head[21] & 15) << 32 + number(22..<26)
    guard block > 0 else { return [] }
    var place = 4
    while true {
      let head = bytes(at: place, count: 4)
      guard head.count == 4 else { return [] }
      place += 4 + Int(bigEndianBytes: head[1..<4])
      if head[0] & 0x80 != 0 { break }
    }
    let frames = (samples + block - 1) / block
    let frame = longest > 0 ? longest : block * channels * (bits + 1) / 8 + 64
    if samples > 0, size - place <= frames * frame, samples == lastSample(from: place, frame: frame, block: block) {
      return []
    }
    var starts: [Int] = []
    while let found = next(Self.flac, from: place) {
      if Self.flacHeads.contains(bytes(at: found, count: 8)) { try add(found, to: &starts) }
      place = found + 4
    }
    return starts
  }

  private static let frameHeadSize = 16

  /// Returns the number of samples up to the end of the last frame of a FLAC file. Returns `nil` if that is not found
  /// within the maximum size of a frame, and of tags.
  private func lastSample(from start: Int, frame: Int, block: Int) -> Int? {
    let place = max(start, size - min(frame, Self.chunkSize) - (64 << 10))
    // A frame may be shorter than the longest header.
    let end = bytes(at: place, count: size - place) + [UInt8](repeating: 0, count: Self.frameHeadSize)
    return end.indices.dropLast(Self.frameHeadSize).reversed().lazy
      .compactMap {
        end[$0] == 0xff ? Self.lastSample(ofFrame: Array(end[$0...].prefix(Self.frameHeadSize)), block) : nil
      }
      .first
  }

  /// Returns the number of samples up to the end of a frame, by its header (RFC 9639, 9.1). Returns `nil` if the header
  /// is invalid.
  private static func lastSample(ofFrame head: [UInt8], _ block: Int) -> Int? {
    let (blockCode, rateCode) = (Int(head[2] >> 4), head[2] & 15)
    guard head[1] & 0xfe == 0xf8, blockCode > 0, rateCode < 15, head[3] >> 4 < 11, head[3] & 1 == 0 else { return nil }
    // The number of the frame, or of its first sample, in the manner of UTF-8.
    let ones = (~head[4]).leadingZeroBitCount
    guard ones != 1, ones < 8 else { return nil }
    var place = 4 + max(1, ones)
    let number = head[5..<max(5, place)].reduce(Int(head[4]) & (ones == 0 ? 0x7f : 0x7f >> ones)) {
      $0 << 6 | Int($1 & 0x3f)
    }
    let length: Int
    switch blockCode {
    case 1: length = 192
    case 2...5: length = 576 << (blockCode - 2)
    case 6:
      length = Int(head[place]) + 1
      place += 1
    case 7:
      length = Int(head[place]) << 8 + Int(head[place + 1]) + 1
      place += 2
    default: length = 256 << (blockCode - 8)
    }
    place += [12: 1, 13: 2, 14: 2][rateCode] ?? 0
    guard let table = unsafe av_crc_get_table(AV_CRC_8_ATM), unsafe av_crc(table, 0, head, place) == head[place] else {
      return nil
    }
    return (head[1] & 1 == 0 ? number * block : number) + length
  }
}
