internal import Bytes

/// An incremental decoder of a compressed stream.
///
/// Not thread-safe, but may move between threads from call to call.
protocol StreamDecoder: AnyObject {
  /// Decodes from `input` into `output` until either is used up or the stream ends. Input that is not consumed must be
  /// passed again, followed by more. Throws when the data are damaged or exceed a limit.
  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(Fault) -> StreamProgress
}

/// The result of one call of a decoder: the numbers of consumed and produced bytes.
struct StreamProgress: Sendable {
  var consumed = 0
  var produced = 0
  /// Whether the stream has ended and all of its output was returned.
  var isFinished = false
}

/// A compression method of archive entries other than Deflate.
public enum Compression: Sendable {
  case deflate64
  case bzip2
  /// LZMA with a header of nine bytes before the stream (APPNOTE 5.8). The stream may end with a mark.
  case lzma(endsWithMark: Bool)
  case xz
  case zstd

  /// The maximum memory for a decoder's window or dictionary, in bytes, regardless of the stream's header.
  static let largestXZMemory: UInt64 = 264 << 20
  static let largestZstdWindowLog: Int32 = 27

  /// Whether streams may be concatenated, as parallel compressors write them.
  var joinsStreams: Bool {
    switch self {
    case .bzip2, .xz, .zstd: true
    case .deflate64, .lzma: false
    }
  }

  /// Creates a decoder. `size` is the expected size of the output.
  func makeDecoder(size: Int64) throws(Fault) -> any StreamDecoder {
    switch self {
    case .deflate64: Deflate64Decoder()
    case .bzip2: try Bzip2Decoder()
    case .lzma(let endsWithMark): LZMADecoder(size: size, endsWithMark: endsWithMark)
    case .xz: try XZDecoder()
    case .zstd: try ZstdDecoder()
    }
  }
}

extension StreamProgress {
  /// Computes the progress from the sizes of `input` and `output` and the number of bytes that the library left of
  /// them.
  init(_ input: Int, left inputLeft: Int, _ output: Int, left outputLeft: Int, isFinished: Bool) {
    self.init(consumed: input - inputLeft, produced: output - outputLeft, isFinished: isFinished)
  }
}

extension CompressedFormat {
  /// Creates a decoder of one stream, for formats whose streams are decoded whole. `head` is the start of the stream.
  func makeDecoder(startingWith head: [UInt8]) throws(Fault) -> any StreamDecoder {
    switch self {
    case .zstd: try ZstdDecoder()
    case .lz4: head.starts(with: LegacyLZ4Decoder.mark) ? LegacyLZ4Decoder() : try LZ4Decoder()
    case .lzip: LzipDecoder()
    case .lzma: try LZMAFileDecoder()
    case .compress: CompressDecoder()
    case .brotli: try BrotliDecoder()
    case .xz: try XZDecoder()
    case .bzip2: try Bzip2Decoder()
    case .gzip: throw Fault(.unsupported, "gzip is decoded by members")
    }
  }
}
