internal import Catalogue
internal import Pictures
internal import WorkerKit

/// An encoder of an image that is already in the colours of the file's format.
protocol ImageEncoder {
  /// Returns the whole file.
  func bytes(of image: VipsPicture) throws(JobFailure) -> [UInt8]

  /// Writes the file, in parts if possible.
  func write(_ image: VipsPicture, to output: JobOutput) throws(JobFailure)
}

extension ImageEncoder {
  func write(_ image: VipsPicture, to output: JobOutput) throws(JobFailure) {
    let bytes = try bytes(of: image)
    try unsafe output.write(bytes.span.bytes)
  }
}

extension ImageFormat {
  /// - Parameters:
  ///   - quality: 1 to 100. Nil for the default.
  ///   - depth: the bits per sample of a PNG, 1 or 8.
  func encoder(quality: Int?, depth: Int = 8) -> any ImageEncoder {
    switch self {
    case .heic: HEICFile(quality: quality ?? 60)
    case .apng: MovingPNGFile()
    case .bmp: RasterFile(.codec(.bmp))
    case .tga: RasterFile(.codec(.tga))
    case .pcx: RasterFile(.codec(.pcx))
    case .sgi: RasterFile(.codec(.sgi))
    case .ras: RasterFile(.codec(.sunRaster))
    case .xwd: RasterFile(.codec(.xwd))
    case .xbm: RasterFile(.codec(.xbm))
    case .qoi: RasterFile(.codec(.qoi))
    case .pam: RasterFile(.codec(.pam))
    case .pfm: FloatMap()
    case .pbm: RasterFile(.codec(.pbm))
    case .exr: RasterFile(.codec(.exr))
    case .fits: RasterFile(.fits)
    case .yuv: RasterFile(.planar)
    case .ico: IconFile()
    case .jpeg, .png, .webp, .tiff, .gif, .avif, .jp2, .jxl, .hdr, .pgm, .ppm, .pnm, .pdf:
      ImageFile(self, quality: quality, depth: depth)
    }
  }
}
