internal import Bytes

/// Decodes a file of one or more independently compressed streams: frames of Zstandard and LZ4, members of lzip,
/// streams of xz. Other bytes after the last stream are ignored.
final class MemberUnpacker: Unpacker {
  private let packing: CompressedFormat
  private let input: PackedInput
  private var decoder: (any StreamDecoder)?
  private var isFirst: Bool
  /// The first bytes of the first member.
  private var mark: [UInt8] = []
  private(set) var isAtEnd = false
  private(set) var isCut = false
  /// The fault of a member whose content is intact. Thrown after all bytes have been decoded.
  private var memberFault: Fault?

  init(_ source: any ByteSource, _ packing: CompressedFormat, from place: FileRestartPoint) {
    self.packing = packing
    input = PackedInput(source, at: place.input)
    isFirst = place.input == 0
  }

  var isBetweenParts: Bool { decoder == nil }

  func place(at output: Int64) -> FileRestartPoint? {
    isBetweenParts && !isAtEnd ? FileRestartPoint(output: output, input: input.offset) : nil
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> Int {
    if decoder == nil {
      guard try startMember() else { return 0 }
    }
    let step = unsafe try decode(into: buffer)
    if step.isFinished {
      if memberFault == nil, let fault = (decoder as? LzipDecoder)?.sizeFault {
        memberFault = fault
        memberFault?.offset = input.offset
      }
      decoder = nil
    }
    return step.produced
  }

  private func decode(into rest: UnsafeMutableRawBufferPointer) throws(Fault) -> StreamProgress {
    let before = input.offset
    var isStuck = false
    let step = unsafe try input.withBytes { bytes throws(Fault) in
      let step = unsafe try decoder?.decode(bytes, into: rest) ?? StreamProgress()
      isStuck = step.consumed == 0 && step.produced == 0 && !step.isFinished
      return (step.consumed, step)
    }
    guard isStuck else { return step }
    // The decoder needs more bytes at once than were left in the window.
    let again = unsafe try input.withBytes(atLeast: 4096) { bytes throws(Fault) in
      let step = unsafe try decoder?.decode(bytes, into: rest) ?? StreamProgress()
      return (step.consumed, step)
    }
    guard again.consumed > 0 || again.produced > 0 || again.isFinished else {
      isCut = true
      throw Fault(.damaged, "expected more \(packing.name) data, found the end", atByte: before)
    }
    return again
  }

  /// Starts the next stream. Returns false if there is none.
  private func startMember() throws(Fault) -> Bool {
    if packing == .xz, !isFirst { try skipPadding() }
    let head = try input.peek(CompressedFormat.headSize)
    // Formats without a mark have a single stream.
    guard isFirst || packing.isJoined && packing.starts(with: head[...]) else {
      // Any bytes may follow the members, except those of a damaged member.
      guard !packing.isJoined || zip(head, mark).count(where: ==) < 3 else {
        throw Fault(.damaged, "expected \(packing.name) data", atByte: input.offset)
      }
      if let memberFault { throw memberFault }
      isAtEnd = true
      return false
    }
    if isFirst { mark = Array(head.prefix(4)) }
    if isFirst, packing != .brotli, packing != .lzma, !packing.starts(with: head[...]) {
      throw Fault(.damaged, "expected \(packing.name) data", atByte: input.offset)
    }
    isFirst = false
    decoder = try packing.makeDecoder(startingWith: head)
    return true
  }

  /// Skips the padding between xz streams: zeros, four at a time.
  private func skipPadding() throws(Fault) {
    while true {
      let head = try input.peek(4096)
      let zeros = head.prefix { $0 == 0 }.count
      input.skip(Int64(zeros))
      if zeros < head.count || head.isEmpty { return }
      try CancellationToken.check()
    }
  }
}

extension CompressedFormat {
  /// The format's name, for messages.
  var name: String {
    switch self {
    case .gzip: "gzip"
    case .bzip2: "bzip2"
    case .xz: "xz"
    case .zstd: "Zstandard"
    case .lz4: "LZ4"
    case .lzip: "lzip"
    case .lzma: "LZMA"
    case .compress: "compress"
    case .brotli: "Brotli"
    }
  }

  /// Whether a file can contain several streams.
  var isJoined: Bool {
    switch self {
    case .gzip, .bzip2, .xz, .zstd, .lz4, .lzip: true
    case .lzma, .compress, .brotli: false
    }
  }
}
