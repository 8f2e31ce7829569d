/// What is made of images, and of pages as images: `NAME[.MODIFIER…].as-FORMAT`.
extension Conversion {
  public static let images: [Conversion] = [
    // Three bytes a pixel, of which the source may have used a tenth of a bit.
    image(.jpeg, 8, listed: Format.seldomShown, listable: Format.images.filter { $0 != .jpeg }), image(.png, 100),
    image(.webp, 8),
    image(.tiff, 100), image(.gif, 100), image(.heic, 8), image(.avif, 8), image(.jp2, 8),
    Conversion(
      from: Format.images, to: .pdf, arguments: ImageChanges.self, size: .guess(100), programs: ["ffconvert"],
      meaning: ("any image", "the image, or all pages of a TIFF, as a PDF")),
  ]

  private static func image(_ result: Format, _ factor: Int64, listed: [Format] = [], listable: [Format] = [])
    -> Conversion
  {
    Conversion(
      from: Format.images + [.pdf], to: result, arguments: ImageChanges.self, listed: listed, listable: listable,
      size: .guess(factor), programs: ["ffconvert"],
      meaning: (
        "any image or PDF",
        result == .jpeg ? "the image, or the first page, as JPEG" : "the same as another format"
      ))
  }
}

extension Recipe {
  /// An image of an image, with the frames and pages that both formats support, or of a PDF's first page.
  public static func image(_ result: Format, _ changes: ImageChanges = ImageChanges()) -> Recipe {
    Recipe(verb: result.name, changes)
  }
}
