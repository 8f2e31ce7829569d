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
  func encoder(quality: Int?, depth: Int = 8) throws(JobFailure) -> any ImageEncoder {
    func lossy(_ usual: Int) -> (String, String) { ("Q", "\(quality ?? usual)") }
    return switch self {
    case .jpeg: ImageFile.jpeg(quality: quality)
    case .png: ImageFile.png(depth: depth)
    case .tiff: ImageFile.tiff(quality: quality)
    case .webp: ImageFile("webpsave", [lossy(80)])
    case .gif: ImageFile("gifsave")
    case .avif: ImageFile("heifsave", [("compression", "av1"), ("effort", "1"), lossy(60)])
    case .jp2: ImageFile("jp2ksave", [lossy(75)])
    case .jxl: ImageFile("jxlsave", [("effort", "3"), lossy(90)])
    case .hdr: ImageFile("radsave")
    // Without metadata, because of a comment with the date.
    case .pgm, .ppm, .pnm: ImageFile("ppmsave", [("format", rawValue), ("strip", "true")])
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
    case .pdf: throw JobFailure(.unsupported, "cannot be encoded as a PDF, which has pages")
    }
  }
}
