internal import Bytes

/// Simpler image formats, in the order in which they are recognized.
extension Format {
  /// JPEG XL, as a codestream and in boxes.
  public static let jxl = Format(
    "jxl", extensions: ["jxl"], mimeType: "image/jxl", family: .image, head: [0xff, 0x0a]
  ) { head in
    head.starts(with: [0xff, 0x0a])
      || head.starts(with: [0, 0, 0, 12, 0x4a, 0x58, 0x4c, 0x20, 0x0d, 0x0a, 0x87, 0x0a])
  }
  public static let psd = Format(
    "psd", extensions: ["psd"], mimeType: "image/vnd.adobe.photoshop", family: .image, head: Array("8BPS\0\u{1}".utf8))
  public static let dds = Format(
    "dds", extensions: ["dds"], mimeType: "image/x-dds", family: .image, head: Array("DDS \u{7c}\0\0\0".utf8))
  public static let qoi = Format(
    "qoi", extensions: ["qoi"], mimeType: "image/qoi", family: .image, head: Array("qoif".utf8))
  public static let hdr = Format(
    "hdr", extensions: ["hdr"], mimeType: "image/vnd.radiance", family: .image, head: Array("#?RADIANCE".utf8)
  ) { $0.has("#?RADIANCE", at: 0) || $0.has("#?RGBE", at: 0) }
  public static let fits = Format(
    "fits", otherNames: ["fit"], extensions: ["fits", "fit", "fts"], mimeType: "image/fits", family: .image,
    head: Array("SIMPLE  =".utf8))
  public static let icns = Format(
    "icns", extensions: ["icns"], mimeType: "image/x-icns", family: .image, head: Array("icns".utf8))
  /// Icons and, with the same structure, cursors.
  public static let ico = Format(
    "ico", extensions: ["ico", "cur"], mimeType: "image/vnd.microsoft.icon", otherMimeTypes: ["image/x-win-bitmap"],
    family: .image, head: [0, 0, 1, 0]
  ) { head in
    // The reserved byte of the first image is 0, and its data starts after the list.
    let bytes = Array(head.prefix(22))
    return bytes.count == 22 && bytes[0] == 0 && bytes[1] == 0 && (1...2).contains(bytes[2]) && bytes[3] == 0
      && (1...255).contains(bytes[4]) && bytes[5] == 0 && bytes[9] == 0
      && Int(littleEndianBytes: bytes[18..<22]) >= 6 + 16 * Int(bytes[4])
  }
  /// Sun raster images.
  public static let sunRaster = Format(
    "ras", otherNames: ["sun"], extensions: ["ras", "sun"], mimeType: "image/x-sun-raster", family: .image,
    head: [0x59, 0xa6, 0x6a, 0x95])
  /// Silicon Graphics images in colour, with opacity, or in gray.
  public static let sgi = Format(
    "sgi", otherNames: ["rgb"], extensions: ["sgi", "rgb", "rgba", "bw"], mimeType: "image/x-sgi", family: .image,
    head: [0x01, 0xda, 1, 1, 0, 3]
  ) { head in
    let bytes = Array(head.prefix(6))
    return bytes.count == 6 && bytes.starts(with: [0x01, 0xda]) && bytes[2] < 2 && (1...2).contains(bytes[3])
      && bytes[4] == 0 && (1...3).contains(bytes[5])
  }
  /// X11 window dumps, version 7, in either byte order.
  public static let xwd = Format(
    "xwd", extensions: ["xwd"], mimeType: "image/x-xwindowdump", family: .image
  ) { head in
    let bytes = Array(head.prefix(16))
    guard bytes.count == 16 else { return false }
    return [[0, 0, 0, 7], [7, 0, 0, 0]].contains(Array(bytes[4..<8])) && bytes[0..<2].allSatisfy { $0 == 0 }
      && bytes[2..<4] != [0, 0] && [[0, 0, 0, 2], [2, 0, 0, 0]].contains(Array(bytes[8..<12]))
  }
  public static let pcx = Format(
    "pcx", extensions: ["pcx"], mimeType: "image/vnd.zbrush.pcx", otherMimeTypes: ["image/x-pcx"], family: .image,
    head: [0x0a, 5, 1, 8]
  ) { head in
    let bytes = Array(head.prefix(4))
    return bytes.count == 4 && bytes[0] == 0x0a && [0, 2, 3, 4, 5].contains(bytes[1]) && bytes[2] == 1
      && [1, 2, 4, 8].contains(bytes[3])
  }
  /// X11 bitmaps, which like X11 pixmaps are C source text.
  public static let xbm = Format(
    "xbm", extensions: ["xbm"], mimeType: "image/x-xbitmap", family: .image
  ) { $0.contains(run: "#define ") && $0.contains(run: "_width ") && $0.contains(run: "_bits[") }
  public static let xpm = Format(
    "xpm", extensions: ["xpm"], mimeType: "image/x-xpixmap", family: .image, head: Array("/* XPM */".utf8))
  /// A Netpbm bitmap. Netpbm files start with P1 to P6, followed by white space.
  public static let pbm = anymap("pbm", "bitmap", "14")
  public static let pgm = anymap("pgm", "graymap", "25")
  public static let ppm = anymap("ppm", "pixmap", "36")
  /// Any of the three Netpbm formats above, chosen by the picture.
  public static let pnm = anymap("pnm", "anymap", "123456")
  public static let pam = Format(
    "pam", extensions: ["pam"], mimeType: "image/x-portable-arbitrarymap", family: .image, head: Array("P7\n".utf8))
  /// Floating-point samples in colour or gray, in proportion to those of other formats.
  public static let pfm = Format(
    "pfm", extensions: ["pfm"], mimeType: "image/x-portable-floatmap", family: .image, head: Array("PF\n".utf8)
  ) { $0.has("PF\n", at: 0) || $0.has("Pf\n", at: 0) }
  /// Targa images. Only the footer identifies them, and not all have one.
  public static let tga = Format(
    "tga", extensions: ["tga", "icb", "vda", "vst"], mimeType: "image/x-tga", family: .image)
  /// A plane of luma and two planes of chroma of half the size, without a header.
  public static let yuv = Format("yuv", extensions: ["yuv"], mimeType: "image/x-yuv", family: .image)

  /// The formats above except `yuv`, which cannot be read without additional parameters.
  static let rasters: [Format] = [
    .jxl, .psd, .dds, .qoi, .hdr, .fits, .icns, .ico, .sunRaster, .sgi, .xwd, .pcx, .xbm, .xpm, .pbm, .pgm, .ppm, .pnm,
    .pam, .pfm, .tga,
  ]

  private static func anymap(_ name: String, _ kind: String, _ digits: String) -> Format {
    Format(
      name, extensions: [FileExtension(name.utf8)], mimeType: "image/x-portable-\(kind)", family: .image,
      head: [0x50] + digits.utf8.suffix(1) + [10]
    ) { head in
      let bytes = Array(head.prefix(3))
      return bytes.count == 3 && bytes[0] == 0x50 && digits.utf8.contains(bytes[1])
        && [9, 10, 13, 32].contains(bytes[2])
    }
  }
}
