internal import CAVCodec
internal import Catalogue
internal import Glibc
public import WorkerKit

/// The simpler picture formats that libavcodec reads and writes, with one picture per file, entirely in memory.
public enum PictureCodec: Sendable {
  case bmp, tga, pcx, psd, dds, sgi, sunRaster, xwd, xbm, xpm, qoi, pbm, pam, fits, exr

  var number: AVCodecID {
    switch self {
    case .bmp: AV_CODEC_ID_BMP
    case .tga: AV_CODEC_ID_TARGA
    case .pcx: AV_CODEC_ID_PCX
    case .psd: AV_CODEC_ID_PSD
    case .dds: AV_CODEC_ID_DDS
    case .sgi: AV_CODEC_ID_SGI
    case .sunRaster: AV_CODEC_ID_SUNRAST
    case .xwd: AV_CODEC_ID_XWD
    case .xbm: AV_CODEC_ID_XBM
    case .xpm: AV_CODEC_ID_XPM
    case .qoi: AV_CODEC_ID_QOI
    case .pam: AV_CODEC_ID_PAM
    case .pbm: AV_CODEC_ID_PBM
    case .fits: AV_CODEC_ID_FITS
    case .exr: AV_CODEC_ID_EXR
    }
  }

  /// The encoder options.
  var options: KeyValuePairs<String, String> {
    switch self {
    // Not all programs can read the library's run-length encoding.
    case .sgi: ["rle": "0"]
    // Nearly all such files use these.
    case .exr: ["format": "half", "compression": "zip16"]
    default: [:]
    }
  }

  /// Returns the pixel format of written files: that of `layout`, or the nearest one.
  func stored(_ layout: PixelLayout) -> AVPixelFormat {
    switch self {
    case .xbm, .pbm: AV_PIX_FMT_MONOWHITE
    case .exr: [AV_PIX_FMT_GRAYF32LE, AV_PIX_FMT_GBRPF32LE, AV_PIX_FMT_GBRAPF32LE][max(0, layout.bands - 2)]
    case .tga, .bmp, .sunRaster, .xwd:
      layout.bands == 1 ? AV_PIX_FMT_GRAY8 : layout.bands == 4 ? AV_PIX_FMT_BGRA : AV_PIX_FMT_BGR24
    case .pam where layout.sample == .word:
      [AV_PIX_FMT_GRAY16BE, AV_PIX_FMT_YA16BE, AV_PIX_FMT_RGB48BE, AV_PIX_FMT_RGBA64BE][layout.bands - 1]
    default: layout.format
    }
  }
}

extension PictureCodec {
  /// Returns a file of these pixels. Information that the format cannot store is left out.
  public func file(of pixels: PixelBlock) throws(JobFailure) -> [UInt8] {
    var frame = try pixels.frame()
    let stored = stored(pixels.layout)
    if frame.format != stored { frame = try frame.converted(to: stored) }
    let context = try CodecContext(writing: self, frame)
    return try context.packet(of: frame)
  }
}

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
