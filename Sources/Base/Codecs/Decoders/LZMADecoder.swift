internal import Bytes
internal import CLzma

/// Decodes one .xz stream.
final class XZDecoder: StreamDecoder {
  private let stream: LZMAStream

  init() throws(Fault) {
    stream = unsafe try LZMAStream { unsafe lzma_stream_decoder($0, Compression.largestXZMemory, 0) }
  }

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(Fault) -> StreamProgress {
    unsafe try stream.decode(input, into: output)
  }
}

/// Decodes an LZMA stream in ZIP's format (APPNOTE 5.8): two bytes of version, two bytes for the size of the
/// properties, the properties, the stream.
@safe final class LZMADecoder: StreamDecoder {
  private var stream: LZMAStream?
  private let size: Int64
  private let endsWithMark: Bool

  private static let headerSize = 4
  private static let propertiesSize = 5

  init(size: Int64, endsWithMark: Bool) {
    self.size = size
    self.endsWithMark = endsWithMark
  }

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(Fault) -> StreamProgress {
    if stream != nil { return unsafe try run(input, into: output) }
    let count = Self.headerSize + Self.propertiesSize
    guard input.count >= count else { return StreamProgress() }
    guard unsafe input[2] == Self.propertiesSize, unsafe input[3] == 0 else {
      throw Fault(.damaged, "expected \(Self.propertiesSize) bytes of LZMA properties")
    }
    // The parameters in the form of a .lzma file's header, for which liblzma supports a memory limit.
    var header = unsafe Array(input[Self.headerSize..<count])
    shrinkDictionary(&header)
    let known = endsWithMark ? Int64(-1) : size
    header.append(littleEndian: known)
    stream = unsafe try LZMAStream { unsafe lzma_alone_decoder($0, Compression.largestXZMemory) }
    var progress = StreamProgress()
    var fault: Fault?
    unsafe header.withUnsafeBytes { header in
      // liblzma consumes nothing without space for output, though these bytes produce none.
      do throws(Fault) { progress = unsafe try run(header, into: output) } catch { fault = error }
    }
    if let fault { throw fault }
    return StreamProgress(consumed: count, produced: progress.produced, isFinished: progress.isFinished)
  }

  /// Limits the dictionary to the size of the output.
  private func shrinkDictionary(_ properties: inout [UInt8]) {
    let asked = UInt32(littleEndianBytes: properties[1...4])
    let needed = UInt32(clamping: max(4096, size))
    guard needed < asked else { return }
    properties.replaceSubrange(1...4, with: [UInt8](littleEndian: needed))
  }

  private func run(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(Fault) -> StreamProgress {
    guard stream != nil else { return StreamProgress() }
    return unsafe try stream!.decode(input, into: output)
  }
}
