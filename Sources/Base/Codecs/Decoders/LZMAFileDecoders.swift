internal import Bytes
internal import CLzma

/// Decodes a .lzma file.
final class LZMAFileDecoder: StreamDecoder {
  private let stream: LZMAStream

  init() throws(Fault) {
    stream = unsafe try LZMAStream { unsafe lzma_alone_decoder($0, Compression.largestXZMemory) }
  }

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(Fault) -> StreamProgress {
    unsafe try stream.decode(input, into: output)
  }
}

/// Decodes one member of a lzip file: six bytes of header, an LZMA stream with an end mark, its CRC and sizes.
@safe final class LzipDecoder: StreamDecoder {
  private var stream: LZMAStream?
  private var isPastData = false
  private var crc = CRC32()
  private var size: Int64 = 0
  /// The number of bytes of the LZMA stream consumed so far.
  private var packedSize: Int64 = 0
  /// The fault of a member that records a wrong size of its own, although its content is intact.
  private(set) var sizeFault: Fault?
  /// The size of the trailer, in bytes. Version 0 does not record the size of the member.
  private var trailerSize = 20

  private static let headerSize = 6

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(Fault) -> StreamProgress {
    if isPastData { return unsafe try end(input) }
    guard stream == nil else { return unsafe try run(input, into: output) }
    guard input.count >= Self.headerSize else { return StreamProgress() }
    let (version, code) = unsafe (input[4], input[5])
    guard unsafe Array(input[..<4]) == Array("LZIP".utf8), version <= 1, (12...29).contains(code & 31) else {
      throw Fault(.damaged, "expected an lzip header")
    }
    trailerSize = version == 0 ? 12 : 20
    let base = UInt32(1) << UInt32(code & 31)
    let dictionary = base - base / 16 * UInt32(code >> 5)
    // A .lzma file's header: the usual properties, the dictionary, no size.
    let header = [0x5d] + [UInt8](littleEndian: dictionary) + [UInt8](repeating: 0xff, count: 8)
    stream = unsafe try LZMAStream { unsafe lzma_alone_decoder($0, Compression.largestXZMemory) }
    var fault: Fault?
    unsafe header.withUnsafeBytes { header in
      // liblzma consumes nothing without space for output, though these bytes produce none.
      do throws(Fault) { _ = unsafe try stream!.decode(header, into: output) } catch { fault = error }
    }
    if let fault { throw fault }
    return StreamProgress(consumed: Self.headerSize)
  }

  private func run(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(Fault) -> StreamProgress {
    var progress = unsafe try stream!.decode(input, into: output)
    unsafe crc.update(UnsafeRawBufferPointer(rebasing: output[..<progress.produced]))
    size += Int64(progress.produced)
    packedSize += Int64(progress.consumed)
    if progress.isFinished {
      isPastData = true
      progress.isFinished = false
      // The member ends only after its trailer, which may be in the input already.
      let rest = unsafe UnsafeRawBufferPointer(rebasing: input[progress.consumed...])
      let last = unsafe try end(rest)
      progress.consumed += last.consumed
      progress.isFinished = last.isFinished
    }
    return progress
  }

  private func end(_ input: UnsafeRawBufferPointer) throws(Fault) -> StreamProgress {
    guard input.count >= trailerSize else { return StreamProgress() }
    let trailer = unsafe Array(input[..<trailerSize])
    let expected = UInt32(littleEndianBytes: trailer)
    guard expected == crc.value else { throw Fault(crc: expected, found: crc.value) }
    guard UInt64(littleEndianBytes: trailer[4..<12]) == UInt64(size) else {
      throw Fault(.damaged, "expected another size of an lzip member than \(size) bytes")
    }
    let found = Int64(Self.headerSize + trailerSize) + packedSize
    if trailerSize == 20, UInt64(littleEndianBytes: trailer[12...]) != UInt64(found) {
      sizeFault = Fault(.damaged, "expected another size of an lzip member, found \(found) bytes")
    }
    return StreamProgress(consumed: trailerSize, isFinished: true)
  }
}
