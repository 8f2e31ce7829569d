internal import CVips
internal import Catalogue
internal import WorkerKit

extension VipsPicture {
  private static let profile = "icc-profile-data"

  /// The colour profile, if any. Nil if it is for a different colour space.
  var profile: [UInt8]? {
    // ICC.1, 7.2: the header has 128 bytes, with the device's colour space at offset 16.
    guard let profile = blob(VipsPicture.profile), profile.count >= 128 else { return nil }
    let space = interpretation == VIPS_INTERPRETATION_CMYK ? "CMYK" : bands < 3 ? "GRAY" : "RGB "
    return profile[16..<20].elementsEqual(space.utf8) ? profile : nil
  }

  /// Converts to colours that a format supports. Applies a profile that the format cannot store, and blends with white
  /// if it has no transparency.
  func inColours(of format: ImageFormat, gray isAsked: Bool) throws(JobFailure) -> VipsPicture {
    let traits = format.traits
    var image = self
    let isGray = image.bands < 3
    let gray = isAsked || traits.colours == .gray
    let keepsProfile = isGray ? traits.keepsGrayProfile : traits.keepsProfile && !gray
    if image.has(VipsPicture.profile), image.profile == nil {
      image = try image.removing { $0 == VipsPicture.profile }
    }
    if image.interpretation == VIPS_INTERPRETATION_CMYK {
      image = try image.inSRGB()
    } else if image.has(VipsPicture.profile), !keepsProfile {
      image = try image.inSRGB()
    }
    // Before the conversion to linear light, for the same blend in all formats.
    if image.hasAlpha, !traits.hasAlpha, !image.isFloat { image = try image.onWhite() }
    let isDeep = !image.isByte && traits.depth == .word && !image.isFloat
    if traits.depth == .light {
      image = try image.inLight(gray: gray)
    } else if gray {
      image = try image.inSpace(isDeep ? "grey16" : "b-w")
    } else if !isDeep, !image.isByte {
      image = try image.inSpace(image.bands < 3 && !image.isFloat ? "b-w" : "srgb")
    } else if ![
      VIPS_INTERPRETATION_sRGB, VIPS_INTERPRETATION_B_W, VIPS_INTERPRETATION_RGB16, VIPS_INTERPRETATION_GREY16,
    ]
    .contains(image.interpretation) {
      image = try image.inSpace(image.bands < 3 ? "b-w" : "srgb")
    }
    if image.hasAlpha, !traits.hasAlpha { image = try image.onWhite() }
    if traits.colours == .colours, image.bands < 3 {
      image = try image.inSpace(image.isByte ? "srgb" : image.isFloat ? "scrgb" : "rgb16")
    }
    if traits.depth == .bit { image = try image.inBlackAndWhite() }
    return image
  }

  private func onWhite() throws(JobFailure) -> VipsPicture {
    try applying("flatten", ["background": isByte ? "255" : isFloat ? "1" : "65535"])
  }

  /// Returns linear light as floats, 1 for white.
  private func inLight(gray: Bool) throws(JobFailure) -> VipsPicture {
    let isKnown = [
      VIPS_INTERPRETATION_sRGB, VIPS_INTERPRETATION_B_W, VIPS_INTERPRETATION_RGB16, VIPS_INTERPRETATION_GREY16,
      VIPS_INTERPRETATION_scRGB,
    ].contains(interpretation)
    var image = isKnown ? self : try inSpace("srgb")
    if gray { image = try image.inSpace("grey16") }
    return try image.inSpace("scrgb").applying("cast", ["format": "float"])
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
      // The profile does not match the image and is ignored.
      result = self
    }
    return try result.removing { $0 == VipsPicture.profile }
  }
}
