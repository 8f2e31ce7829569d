internal import Bytes
internal import CIsal

/// Decodes a gzip file (RFC 1952) with any number of members.
final class GzipUnpacker: Unpacker {
  private let input: PackedInput
  private var member: Member?
  /// Whether only the member's trailer is left.
  private var isPastData = false
  private var isFirst: Bool
  private(set) var isAtEnd = false
  private(set) var partFault: Fault?
  private(set) var isCut = false

  private final class Member {
    var inflater: Inflater
    var crc: CRC32
    var size: Int64

    init(_ inflater: consuming Inflater = Inflater(), crc: CRC32 = CRC32(), size: Int64 = 0) {
      self.inflater = inflater
      self.crc = crc
      self.size = size
    }
  }

  /// The maximum size of a header, in bytes. It includes the name, the comment and the extra field.
  private static let longestHeader = 96 << 10

  /// Opens a file at a restart point. Throws if there is not enough memory.
  init(_ source: any ByteSource, from place: FileRestartPoint) throws(Fault) {
    input = PackedInput(source, at: place.input)
    isFirst = place.input == 0
    guard let inflation = place.inflation else { return }
    // The image was validated when it was read.
    guard let point = DeflateRestartPoint(image: inflation.image) else {
      throw Fault(.limit, "no memory for a gzip decoder")
    }
    member = Member(Inflater(at: point), crc: CRC32(continuing: inflation.crc), size: inflation.size)
  }

  var isBetweenParts: Bool { member == nil }

  func place(at output: Int64) -> FileRestartPoint? {
    if isAtEnd || isPastData { return nil }
    guard let member else { return FileRestartPoint(output: output, input: input.offset) }
    guard let image = member.inflater.restartPoint(inputOffset: input.offset).image else { return nil }
    let inflation = FileRestartPoint.Inflation(image: image, crc: member.crc.value, size: member.size)
    return FileRestartPoint(output: output, input: input.offset, inflation: inflation)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> Int {
    if member == nil {
      partFault = nil
      guard try startMember() else { return 0 }
    }
    if isPastData {
      try endMember()
      return 0
    }
    return unsafe try inflate(into: buffer)
  }

  private func inflate(into rest: UnsafeMutableRawBufferPointer) throws(Fault) -> Int {
    guard let member else { return 0 }
    let offset = input.offset
    let step = unsafe try input.withBytes { bytes throws(Fault) in
      // After a failure, ISA-L's output is not the data before the damage.
      let progress = unsafe try member.inflater.inflate(bytes, into: rest)
      guard progress.consumed > 0 || progress.produced > 0 || progress.isFinished else {
        isCut = true
        throw Fault(.damaged, "expected more Deflate data, found the end", atByte: offset)
      }
      return (progress.consumed, progress)
    }
    member.size += Int64(step.produced)
    unsafe member.crc.update(UnsafeRawBufferPointer(rebasing: rest[..<step.produced]))
    isPastData = step.isFinished
    return step.produced
  }

  /// Starts the next member by reading its header. Returns false if there is none.
  private func startMember() throws(Fault) -> Bool {
    if !isFirst {
      guard let zeros = try CompressedFormat.gzip.nextMember(after: input.offset, input.peek) else {
        isAtEnd = true
        return false
      }
      input.skip(zeros)
    }
    let start = input.offset
    let head = try input.peek(10)
    guard head.starts(with: [0x1f, 0x8b]), head.count == 10, head[2] == 8, head[3] & 0xe0 == 0 else {
      throw Fault(.damaged, "expected a gzip header", atByte: start)
    }
    var size = try headerSize(head, within: 1024)
    if size == nil { size = try headerSize(head, within: Self.longestHeader) }
    guard let size else { throw Fault(.damaged, "expected a gzip header's end", atByte: start) }
    input.skip(Int64(size))
    member = Member()
    isFirst = false
    return true
  }

  /// Returns the size of the header that starts with `head`. Returns `nil` if it does not end within `limit` bytes.
  private func headerSize(_ head: [UInt8], within limit: Int) throws(Fault) -> Int? {
    let flags = head[3]
    if flags == 0 { return 10 }
    let header = try input.peek(limit)
    var place = 10
    if flags & 4 != 0 {
      guard header.count >= place + 2 else { return nil }
      place += 2 + Int(littleEndianBytes: header[place..<place + 2])
    }
    for flag: UInt8 in [8, 16] where flags & flag != 0 {
      guard place < header.count, let end = header[place...].firstIndex(of: 0) else { return nil }
      place = end + 1
    }
    if flags & 2 != 0 { place += 2 }
    return place <= header.count ? place : nil
  }

  private func endMember() throws(Fault) {
    // The bytes that the decoder has taken beyond the stream's end.
    let unused = Int64(member?.inflater.unusedBytes ?? 0)
    let trailer = try input.peek(8, at: -unused)
    guard let (crc, size) = member.map({ ($0.crc.value, $0.size) }) else { return }
    (member, isPastData) = (nil, false)
    guard trailer.count == 8 else {
      isCut = true
      throw Fault(.damaged, "expected a gzip member's end", atByte: input.offset)
    }
    let (expected, length) = (UInt32(littleEndianBytes: trailer[..<4]), UInt32(littleEndianBytes: trailer[4...]))
    let place = input.offset - unused
    if length != UInt32(truncatingIfNeeded: size) {
      let fault = Fault(.damaged, "expected a gzip member of \(length) bytes modulo 2^32, found \(size)", atByte: place)
      // The offset of a next member's bytes is unknown.
      guard try input.peek(1, at: 8 - unused).isEmpty else { throw fault }
      partFault = fault
    } else if expected != crc {
      partFault = Fault(crc: expected, found: crc)
    }
    partFault?.offset = place
    input.skip(8 - unused)
  }
}

extension Inflater {
  /// The number of bytes taken from the input beyond the end of the stream.
  fileprivate var unusedBytes: Int { unsafe max(0, Int(state.pointee.read_in_length) / 8) }
}
