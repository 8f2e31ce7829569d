/// The formats that images are converted to, by the verbs of their conversions.
public enum ImageFormat: String, CaseIterable, Sendable {
  case jpeg, png, apng, webp, tiff, gif, heic, avif, jp2, jxl
  case bmp, tga, pcx, sgi, ras, xwd, xbm, qoi, ico
  case pbm, pgm, ppm, pnm, pam, pfm, hdr, exr, fits, yuv
  case pdf
}

extension ImageFormat {
  /// The features of a format.
  struct Traits {
    /// The precision of samples. `light` means linear light, 1 for white.
    enum Depth { case bit, byte, word, light }
    enum Colours { case gray, colours, either }

    /// Whether colour profiles are stored, for colours and for gray.
    var keepsProfile = false
    var keepsGrayProfile = false
    var depth = Depth.byte
    var colours = Colours.either
    var hasAlpha = false
    /// Whether a file can contain several animation frames.
    var hasFrames = false
    /// Whether a lower quality results in a smaller file.
    var hasQuality = false
  }

  var traits: Traits {
    switch self {
    case .jpeg: Traits(keepsProfile: true, keepsGrayProfile: true, hasQuality: true)
    case .png, .tiff: Traits(keepsProfile: true, keepsGrayProfile: true, depth: .word, hasAlpha: true)
    case .apng:
      Traits(keepsProfile: true, keepsGrayProfile: true, depth: .word, hasAlpha: true, hasFrames: true)
    case .jxl: Traits(keepsProfile: true, keepsGrayProfile: true, depth: .word, hasAlpha: true, hasQuality: true)
    // Gray is stored as colours, which a gray profile does not describe.
    case .webp: Traits(keepsProfile: true, hasAlpha: true, hasFrames: true, hasQuality: true)
    case .heic, .avif: Traits(keepsProfile: true, hasAlpha: true, hasQuality: true)
    case .gif: Traits(hasAlpha: true, hasFrames: true)
    case .jp2: Traits(depth: .word, hasAlpha: true, hasQuality: true)
    case .tga, .ico: Traits(hasAlpha: true)
    case .qoi: Traits(colours: .colours, hasAlpha: true)
    case .bmp, .pcx, .ras: Traits()
    case .xwd: Traits(colours: .colours)
    case .sgi, .pam: Traits(depth: .word, hasAlpha: true)
    case .xbm, .pbm: Traits(depth: .bit, colours: .gray)
    case .pgm, .fits: Traits(depth: .word, colours: .gray)
    case .ppm: Traits(depth: .word, colours: .colours)
    case .pnm, .pfm: Traits(depth: .word)
    case .hdr: Traits(depth: .light, colours: .colours)
    case .exr: Traits(depth: .light, hasAlpha: true)
    case .yuv: Traits(colours: .colours)
    case .pdf: Traits(keepsProfile: true, keepsGrayProfile: true)
    }
  }
}
