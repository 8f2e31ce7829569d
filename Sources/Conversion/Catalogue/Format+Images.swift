internal import Bytes

/// Formats of images, in the order in which they are recognized.
extension Format {
  public static let jpeg = Format(
    "jpeg", otherNames: ["jpg"], extensions: ["jpg", "jpeg", "jpe"], mimeType: "image/jpeg", family: .image,
    head: [0xff, 0xd8, 0xff])
  public static let png = Format(
    "png", extensions: ["png"], mimeType: "image/png", family: .image,
    head: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  /// An animated PNG.
  public static let apng = Format(
    "apng", extensions: ["apng"], mimeType: "image/apng", family: .image
  ) { $0.starts(with: png.head) && $0.contains(run: "acTL") }
  public static let webp = Format(
    "webp", extensions: ["webp"], mimeType: "image/webp", family: .image, head: Array("RIFF\0\0\0\0WEBP".utf8)
  ) { $0.has("RIFF", at: 0) && $0.has("WEBP", at: 8) }
  /// TIFF and BigTIFF, in either byte order.
  public static let tiff = Format(
    "tiff", otherNames: ["tif"], extensions: ["tif", "tiff"], mimeType: "image/tiff", family: .image,
    head: [0x49, 0x49, 0x2a, 0x00]
  ) { head in
    [[0x49, 0x49, 0x2a, 0x00], [0x4d, 0x4d, 0x00, 0x2a], [0x49, 0x49, 0x2b, 0x00], [0x4d, 0x4d, 0x00, 0x2b]]
      .contains { head.starts(with: $0) }
  }
  public static let gif = Format(
    "gif", extensions: ["gif"], mimeType: "image/gif", family: .image, head: Array("GIF8".utf8))
  public static let heic = Format(
    "heic", otherNames: ["heif"], extensions: ["heic", "heif"], mimeType: "image/heic", otherMimeTypes: ["image/heif"],
    family: .image,
    head: Array("\0\0\0\u{18}ftypheic".utf8)
  ) { isBranded($0, ["heic", "heix", "hevc", "hevx", "heim", "heis", "mif1", "msf1"]) }
  public static let avif = Format(
    "avif", extensions: ["avif"], mimeType: "image/avif", family: .image, head: Array("\0\0\0\u{18}ftypavif".utf8)
  ) { isBranded($0, ["avif", "avis"]) }
  /// JPEG 2000, as a file and as a codestream.
  public static let jp2 = Format(
    "jp2", extensions: ["jp2", "j2k"], mimeType: "image/jp2", otherMimeTypes: ["image/x-jp2-codestream"],
    family: .image,
    head: [0, 0, 0, 12, 0x6a, 0x50, 0x20, 0x20]
  ) { $0.starts(with: [0, 0, 0, 12, 0x6a, 0x50, 0x20, 0x20]) || $0.starts(with: [0xff, 0x4f, 0xff, 0x51]) }
  public static let bmp = Format(
    "bmp", extensions: ["bmp", "dib"], mimeType: "image/bmp", family: .image, head: Array("BM".utf8)
  ) { head in
    // Files without the file header start with the size of the next header. One plane and the bits per pixel follow.
    let bytes = Array(head.prefix(20))
    guard !bytes.starts(with: "BM".utf8) else { return true }
    guard bytes.count == 20, [12, 40, 52, 56, 64, 108, 124].contains(bytes[0]), bytes[1...3].allSatisfy({ $0 == 0 })
    else { return false }
    let planes = bytes[0] == 12 ? 8 : 12
    return bytes[planes] == 1 && bytes[planes + 1] == 0 && [1, 4, 8, 16, 24, 32].contains(bytes[planes + 2])
      && bytes[planes + 3] == 0 && (bytes[0] == 12 || bytes[16] <= 6 && bytes[17...19].allSatisfy { $0 == 0 })
  }
  public static let exr = Format(
    "exr", extensions: ["exr"], mimeType: "image/x-exr", family: .image, head: [0x76, 0x2f, 0x31, 0x01])
  public static let svg = Format(
    "svg", extensions: ["svg"], mimeType: "image/svg+xml", family: .image
  ) { head in
    (head.first == 0x3c || head.starts(with: [0xef, 0xbb, 0xbf, 0x3c])) && head.contains(run: "<svg")
  }
  /// Raw photos. The signatures are those of Fuji, Olympus, Panasonic and Canon; most others start like TIFF.
  public static let rawPhoto = Format(
    "raw", extensions: ["dng", "cr2", "cr3", "nef", "arw", "orf", "rw2", "raf", "pef", "srw"],
    mimeType: "image/x-dcraw",
    otherMimeTypes: [
      "image/x-adobe-dng", "image/x-canon-cr2", "image/x-canon-cr3", "image/x-nikon-nef", "image/x-sony-arw",
      "image/x-olympus-orf", "image/x-panasonic-rw2", "image/x-fuji-raf", "image/x-pentax-pef", "image/x-samsung-srw",
    ], family: .rawPhoto
  ) { head in
    ["FUJIFILMCCD-RAW ", "IIRO", "IIRS", "MMOR", "IIU\0"].contains { head.starts(with: $0.utf8) }
      || isBranded(head, ["crx "])
  }

  /// All image formats.
  public static let images: [Format] =
    [.jpeg, .apng, .png, .gif, .bmp, .tiff, .jp2, .exr, .rawPhoto, .webp, .heic, .avif] + rasters + [.svg]

  /// Formats that browsers and common viewers do not show.
  public static let seldomShown: [Format] = [
    .heic, .tiff, .jp2, .exr, .pbm, .pgm, .ppm, .pnm, .pam, .pfm, .rawPhoto, .jxl, .psd, .tga, .pcx, .dds, .sgi,
    .sunRaster, .xwd, .hdr, .qoi, .fits, .icns,
  ]

  /// Returns whether the file is an ISO base media file with one of these major brands.
  private static func isBranded(_ head: ArraySlice<UInt8>, _ brands: Set<String>) -> Bool {
    head.has("ftyp", at: 4) && brands.contains(String(decoding: head.dropFirst(8).prefix(4), as: UTF8.self))
  }
}
