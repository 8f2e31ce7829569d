internal import CAVCodec

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
