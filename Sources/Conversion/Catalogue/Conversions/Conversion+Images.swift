/// Conversions of images, and of pages to images: `NAME[.MODIFIER…].as-FORMAT`.
extension Conversion {
  public static let images: [Conversion] =
    // The result may have three bytes per pixel, and the source only a tenth of a bit.
    [
      image(.jpeg, 8, listed: Format.seldomShown, listable: Format.images.filter { $0 != .jpeg }),
      image(.png, 100), image(.apng, 100), image(.webp, 8), image(.tiff, 100), image(.gif, 100), image(.heic, 8),
      image(.avif, 8), image(.jp2, 8),
    ].map { $0.reducible(for: Format.commonImages) }
    + [image(.jxl, 8)]
    + [
      .bmp, .tga, .pcx, .sgi, .sunRaster, .xwd, .xbm, .qoi, .ico, .pbm, .pgm, .ppm, .pnm, .pam, .fits, .yuv,
    ].map { image($0, 100) }
    // Four bytes per sample.
    + [.hdr, .exr, .pfm].map { image($0, 400) }
    + [
      Conversion(
        from: Format.images, to: .pdf, arguments: ImageChanges.self, size: .guess(100), programs: ["ffconvert"],
        meaning: ("any image", "the image, or all pages of a TIFF, as a PDF")
      ).reducible(for: Format.commonImages)
    ]

  private static func image(_ result: Format, _ factor: Int64, listed: [Format] = [], listable: [Format] = [])
    -> Conversion
  {
    var conversion = Conversion(
      from: Format.images + [.yuv, .pdf], to: result, arguments: ImageChanges.self, listed: listed, listable: listable,
      size: .guess(factor), programs: ["ffconvert"],
      meaning: (
        "any image or PDF",
        result == .jpeg ? "the image, or the first page, as JPEG" : "the same in another format"
      ))
    // A raw photo has more bytes than its JPEG.
    if result == .jpeg { conversion.sizes = [.heic: .photo, .rawPhoto: .guess(1)] }
    return conversion
  }

  /// The tiles of an image. Each is made by another conversion.
  public static let tiles = Conversion(
    "tiles", from: Format.images, to: .png, as: .inView, arguments: TileChanges.self, size: .guess(100),
    programs: ["ffconvert"],
    meaning: ("any image", "its tiles as files of the same format, or PNG, named by row and column"))
}

extension Recipe {
  /// Returns the recipe for an image in another format, with the frames and pages that both formats support. For a PDF,
  /// the result shows the first page.
  public static func image(_ result: Format, _ changes: ImageChanges = ImageChanges()) -> Recipe {
    Recipe(verb: result.name, changes)
  }
}
