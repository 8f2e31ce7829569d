internal import Bytes

/// Decodes a file of one or more independently compressed streams: frames of Zstandard and LZ4, members of lzip,
/// streams of xz.
final class MemberUnpacker: Unpacker {
  private let packing: CompressedFormat
  private let input: PackedInput
  private var decoder: (any StreamDecoder)?
  private var isFirst: Bool
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
    if !isFirst {
      guard let zeros = try packing.nextMember(after: input.offset, input.peek) else {
        if let memberFault { throw memberFault }
        isAtEnd = true
        return false
      }
      input.skip(zeros)
    }
    let head = try input.peek(CompressedFormat.headSize)
    if isFirst, packing != .brotli, packing != .lzma, !packing.starts(with: head[...]) {
      throw Fault(.damaged, "expected \(packing.name) data", atByte: input.offset)
    }
    isFirst = false
    decoder = try packing.makeDecoder(startingWith: head)
    return true
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
}
