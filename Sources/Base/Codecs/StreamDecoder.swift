internal import Bytes

/// A decoder that takes a compressed stream in pieces, front to back.
///
/// Not for two threads at a time; it may move from one to another between calls.
protocol StreamDecoder: AnyObject, Sendable {
  /// Decodes from `input` into `output` until one of them or the stream ends. Input that is not consumed must be given
  /// again, with more behind it. Throws when the data are damaged or pass a limit.
  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(Fault) -> StreamProgress
}

struct StreamProgress: Sendable {
  var consumed = 0
  var produced = 0
  /// The stream has ended and all of its output was given.
  var isFinished = false
}

/// How an entry is compressed, beside Deflate.
public enum Compression: Sendable {
  case deflate64
  case bzip2
  /// APPNOTE 5.8: a header of nine bytes before the stream, which has an end mark or not.
  case lzma(endsWithMark: Bool)
  case xz
  case zstd

  /// What a decoder may need for its window or dictionary, in bytes, whatever a stream's header asks for.
  static let largestXZMemory: UInt64 = 264 << 20
  static let largestZstdWindowLog: Int32 = 27

  /// Whether one stream may follow another, as parallel compressors write them.
  var joinsStreams: Bool {
    switch self {
    case .bzip2, .xz, .zstd: true
    case .deflate64, .lzma: false
    }
  }

  /// `size` is what the decoded bytes should come to.
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
  /// What of `input` and `output` a library used, told by what it left.
  init(_ input: Int, left inputLeft: Int, _ output: Int, left outputLeft: Int, isFinished: Bool) {
    self.init(consumed: input - inputLeft, produced: output - outputLeft, isFinished: isFinished)
  }
}
