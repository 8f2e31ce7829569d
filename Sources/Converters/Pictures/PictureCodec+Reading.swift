internal import CAVCodec
internal import Catalogue
internal import Glibc
public import WorkerKit

extension PictureCodec {
  /// Decodes a file.
  ///
  /// - Throws: `damaged` if the file violates the format's rules, `limit` if the pixels exceed `PixelBlock.limit`
  ///   bytes.
  public func pixels(of file: UnsafeRawBufferPointer) throws(JobFailure) -> PixelBlock {
    let context = try CodecContext(reading: self)
    let frame = try CodecFrame()
    // The FITS decoder expects the bytes after the first card, which contains the signature.
    try unsafe context.send(self == .fits ? UnsafeRawBufferPointer(rebasing: file.dropFirst(80)) : file)
    let code = unsafe avcodec_receive_frame(context.pointer, frame.pointer)
    guard code == 0 else { throw Self.failure(code) }
    let isWhole = unsafe frame.pointer.pointee.flags & AV_FRAME_FLAG_CORRUPT == 0
    guard isWhole, unsafe frame.pointer.pointee.decode_error_flags == 0 else {
      throw JobFailure(.damaged, "cannot be decoded", saying: CodecWords.take())
    }
    return try PixelBlock(frame)
  }

  /// Decodes a file in memory.
  public func pixels(of file: [UInt8]) throws(JobFailure) -> PixelBlock {
    let result = unsafe file.withUnsafeBytes { bytes in
      Result { () throws(JobFailure) in try unsafe pixels(of: bytes) }
    }
    return try result.get()
  }

  static func failure(_ code: Int32) -> JobFailure {
    let words = CodecWords.take()
    if code == -ENOMEM { return JobFailure.noMemory(saying: words) }
    // The library reports this for all sizes beyond its own limits.
    if words.hasPrefix("Picture size") { return JobFailure(.limit, "has too many pixels", saying: words) }
    if words.contains("nsupported") || words.contains("not implemented") || words.contains("not supported") {
      return JobFailure(.unsupported, "is of an unknown kind", saying: words)
    }
    return JobFailure(.damaged, "cannot be decoded", saying: words)
  }
}
