internal import CVips
internal import Catalogue
internal import WorkerKit

extension VipsPicture {
  private static let profile = "icc-profile-data"

  /// The colour profile, if any; nil if it is for a different colour space.
  var profile: [UInt8]? {
    // ICC.1, 7.2: the header has 128 bytes, with the device's colour space at offset 16.
    guard let profile = blob(VipsPicture.profile), profile.count >= 128 else { return nil }
    let space = interpretation == VIPS_INTERPRETATION_CMYK ? "CMYK" : bands < 3 ? "GRAY" : "RGB "
    return profile[16..<20].elementsEqual(space.utf8) ? profile : nil
  }

  /// Converts to colours that a format supports: applies a profile that it cannot store, and blends with white if it
  /// has no transparency.
  func inColours(of format: ImageFormat, gray: Bool) throws(JobFailure) -> VipsPicture {
    var image = self
    let isGray = image.bands < 3
    let keepsProfile =
      switch format {
      case .gif, .jp2: false
      // These store gray as colours, which a gray profile does not describe.
      case .webp, .heic, .avif: !isGray && !gray
      default: !gray || isGray
      }
    if image.has(VipsPicture.profile), image.profile == nil {
      image = try image.removing { $0 == VipsPicture.profile }
    }
    if image.interpretation == VIPS_INTERPRETATION_CMYK {
      image = try image.inSRGB()
    } else if image.has(VipsPicture.profile), !keepsProfile {
      image = try image.inSRGB()
    }
    let hasDepth = !image.isByte && [.png, .tiff, .jp2].contains(format) && !image.isFloat
    if gray {
      image = try image.inSpace(hasDepth ? "grey16" : "b-w")
    } else if !hasDepth, !image.isByte {
      image = try image.inSpace(image.bands < 3 && !image.isFloat ? "b-w" : "srgb")
    } else if ![
      VIPS_INTERPRETATION_sRGB, VIPS_INTERPRETATION_B_W, VIPS_INTERPRETATION_RGB16, VIPS_INTERPRETATION_GREY16,
    ]
    .contains(image.interpretation) {
      image = try image.inSpace(image.bands < 3 ? "b-w" : "srgb")
    }
    if image.hasAlpha, format == .jpeg || format == .pdf {
      image = try image.applying("flatten", ["background": image.isByte ? "255" : "65535"])
    }
    return image
  }

  private func inSpace(_ space: String) throws(JobFailure) -> VipsPicture {
    try applying("colourspace", ["space": space])
  }

  /// Converts with the image's own profile, or the default one.
  func inSRGB() throws(JobFailure) -> VipsPicture {
    let isCMYK = interpretation == VIPS_INTERPRETATION_CMYK
    let depth = isByte ? "8" : "16"
    let result: VipsPicture
    do throws(JobFailure) {
      result = try applying(
        "icc_transform",
        isCMYK
          ? ["output-profile": "srgb", "embedded": "true", "input-profile": "cmyk", "depth": depth]
          : ["output-profile": "srgb", "embedded": "true", "depth": depth])
    } catch {
      // The profile does not fit the image and is ignored.
      result = self
    }
    return try result.removing { $0 == VipsPicture.profile }
  }
}
