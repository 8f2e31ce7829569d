internal import Bytes
internal import CLzma

/// The blocks of an xz file, from the indexes at the ends of its streams.
struct XZBlocks: Sendable {
  struct Block: Sendable {
    /// The offset in the decoded file.
    var output: Int64
    var input: Int64
    /// The ID of the stream's checksum type.
    var check: UInt32
  }

  /// The blocks in the file's order.
  private(set) var blocks: [Block] = []
  /// The size of the decoded file, in bytes.
  private(set) var size: Int64 = 0
  /// The fault of the first stream whose header is damaged. Nil if there is none. The blocks can be read regardless.
  private(set) var fault: Fault?

  /// The maximum memory for one stream's index, in bytes.
  private static let indexMemory: UInt64 = 128 << 20
  /// The size of a stream's footer, in bytes.
  private static let footerSize: Int64 = 12

  /// Reads the indexes, the last stream's first. Returns `nil` if one is missing or damaged; the file is then decoded
  /// sequentially.
  init?(_ source: any ByteSource) throws(Fault) {
    var end = source.size
    // The streams from last to first. The blocks' offsets are relative to the stream.
    var streams: [(start: Int64, blocks: [Block], size: Int64)] = []
    while end > 0 {
      try CancellationToken.check()
      guard let stream = try Self.stream(in: source, endingAt: &end), streams.count < 1 << 20 else { return nil }
      streams.append((end, stream.blocks, stream.size))
      fault = try Self.headerFault(in: source, at: end, stream.flags) ?? fault
    }
    for stream in streams.reversed() {
      blocks += stream.blocks.map {
        Block(output: size + $0.output, input: stream.start + $0.input, check: $0.check)
      }
      size = Bounds.sum(size, stream.size)
    }
    if streams.isEmpty { return nil }
  }

  /// Reads the index of the stream that ends at `end`, and sets `end` to the stream's start.
  private static func stream(
    in source: any ByteSource, endingAt end: inout Int64
  ) throws(Fault) -> (blocks: [Block], size: Int64, flags: lzma_stream_flags)? {
    var footer: [UInt8]
    repeat {
      guard end >= 2 * footerSize else { return nil }
      footer = try source.bytes(at: end - footerSize, count: Int(footerSize))
      // Skips zeros between streams, four at a time.
      if footer.suffix(4).allSatisfy({ $0 == 0 }) { end -= 4 } else { break }
    } while true
    var flags = lzma_stream_flags()
    guard unsafe lzma_stream_footer_decode(&flags, footer) == LZMA_OK else { return nil }
    let indexSize = Int64(clamping: flags.backward_size)
    guard indexSize <= end - 2 * footerSize, indexSize <= Int64(indexMemory) else { return nil }
    let bytes = try source.bytes(at: end - footerSize - indexSize, count: Int(indexSize))
    var index: OpaquePointer?
    var (limit, place) = (indexMemory, 0)
    guard unsafe lzma_index_buffer_decode(&index, &limit, nil, bytes, &place, bytes.count) == LZMA_OK,
      let index = unsafe index
    else { return nil }
    defer { unsafe lzma_index_end(index, nil) }
    let total = Int64(clamping: unsafe lzma_index_stream_size(index))
    let size = Int64(clamping: unsafe lzma_index_uncompressed_size(index))
    guard total <= end, Bounds.holds(size) else { return nil }
    end -= total
    var iterator = unsafe lzma_index_iter()
    unsafe lzma_index_iter_init(&iterator, index)
    var blocks: [Block] = []
    while unsafe lzma_index_iter_next(&iterator, LZMA_INDEX_ITER_BLOCK) == 0 {
      unsafe blocks.append(
        Block(
          output: Int64(clamping: iterator.block.uncompressed_stream_offset),
          input: Int64(clamping: iterator.block.compressed_stream_offset), check: flags.check.rawValue))
    }
    return (blocks, size, flags)
  }

  /// Returns the fault of a stream's header, whose flags must be those of the stream's footer. Returns `nil` if it is
  /// intact.
  private static func headerFault(
    in source: any ByteSource, at start: Int64, _ expected: lzma_stream_flags
  ) throws(Fault) -> Fault? {
    let header = try source.bytes(at: start, count: Int(LZMA_STREAM_HEADER_SIZE))
    var (found, expected) = (lzma_stream_flags(), expected)
    guard unsafe lzma_stream_header_decode(&found, header) == LZMA_OK,
      unsafe lzma_stream_flags_compare(&found, &expected) == LZMA_OK
    else { return Fault(.damaged, "expected the header of an xz stream, found damage", atByte: start) }
    return nil
  }
}

/// Decodes an xz file block by block.
@safe final class XZUnpacker: Unpacker {
  private let input: PackedInput
  private let blocks: XZBlocks
  private var next: Int
  private var decoder: LZMAStream?
  private(set) var isCut = false
  /// Memory whose address liblzma keeps while a block is decoded.
  private let filters: UnsafeMutablePointer<lzma_filter>
  private let block: UnsafeMutablePointer<lzma_block>

  private static let mostFilters = 5

  init(_ source: any ByteSource, _ blocks: XZBlocks, from place: FileRestartPoint) {
    self.blocks = blocks
    next = blocks.blocks.partitionIndex { $0.output < place.output }
    input = PackedInput(source, at: 0)
    unsafe filters = .allocate(capacity: Self.mostFilters)
    unsafe filters.initialize(repeating: unsafe lzma_filter(id: .max, options: nil), count: Self.mostFilters)
    unsafe block = .allocate(capacity: 1)
    unsafe block.initialize(to: lzma_block())
  }

  deinit {
    decoder = nil
    unsafe ffmount_lzma_filters_free(filters)
    unsafe filters.deallocate()
    unsafe block.deallocate()
  }

  var isAtEnd: Bool { decoder == nil && next == blocks.blocks.count }
  var isBetweenParts: Bool { decoder == nil }

  /// Returns `nil`. The index has all restart points.
  func place(at output: Int64) -> FileRestartPoint? { nil }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(Fault) -> Int {
    if decoder == nil {
      if next == blocks.blocks.count { return 0 }
      try start(blocks.blocks[next])
      next += 1
    }
    let step = unsafe try decode(into: buffer)
    if step.isFinished { decoder = nil }
    return step.produced
  }

  private func decode(into rest: UnsafeMutableRawBufferPointer) throws(Fault) -> StreamProgress {
    let offset = input.offset
    return unsafe try input.withBytes { bytes throws(Fault) in
      guard decoder != nil else { return (0, StreamProgress()) }
      let step = unsafe try decoder!.decode(bytes, into: rest)
      guard step.consumed > 0 || step.produced > 0 || step.isFinished else {
        isCut = true
        throw Fault(.damaged, "expected more xz data, found the end", atByte: offset)
      }
      return (step.consumed, step)
    }
  }

  private func start(_ place: XZBlocks.Block) throws(Fault) {
    input.skip(place.input - input.offset)
    let head = try input.peek(1024)
    guard let first = head.first, first != 0, head.count >= (Int(first) + 1) * 4 else {
      throw Fault(.damaged, "expected an xz block", atByte: place.input)
    }
    unsafe ffmount_lzma_filters_free(filters)
    unsafe block.pointee = lzma_block()
    unsafe block.pointee.version = 1
    unsafe block.pointee.check = lzma_check(rawValue: place.check)
    unsafe block.pointee.filters = filters
    unsafe block.pointee.header_size = (UInt32(first) + 1) * 4
    let status = unsafe lzma_block_header_decode(block, nil, head)
    guard status == LZMA_OK else { throw LZMAStream.fault(status) }
    guard unsafe lzma_raw_decoder_memusage(filters) <= Compression.largestXZMemory else {
      throw LZMAStream.fault(LZMA_MEMLIMIT_ERROR)
    }
    input.skip(Int64(unsafe block.pointee.header_size))
    decoder = unsafe try LZMAStream { unsafe lzma_block_decoder($0, block) }
  }
}
