internal import CVips
internal import Catalogue
internal import WorkerKit

/// A libvips image. Its properties are known at once; its pixels are computed on demand.
@safe final class VipsPicture {
  let pointer: UnsafeMutablePointer<VipsImage>
  /// The objects that the pixels are read from.
  private var origins: [AnyObject] = []

  /// Takes ownership of the reference.
  init(_ pointer: UnsafeMutablePointer<VipsImage>) { unsafe self.pointer = pointer }

  /// Wraps pixels in memory, three bytes each.
  init(rgb bytes: UnsafeRawBufferPointer, width: Int, height: Int, keeping origin: AnyObject) throws(JobFailure) {
    guard
      let pointer = unsafe vips_image_new_from_memory(
        bytes.baseAddress, bytes.count, Int32(width), Int32(height), 3, VIPS_FORMAT_UCHAR)
    else { throw JobFailure.noMemory(saying: Vips.takeError()) }
    unsafe self.pointer = pointer
    origins = [origin]
  }

  /// Copies contiguous pixels. The last of two or four bands is alpha.
  init(
    copying bytes: RawSpan, width: Int, height: Int, bands: Int,
    format: VipsBandFormat = VIPS_FORMAT_UCHAR
  ) throws(JobFailure) {
    let pointer = unsafe bytes.withUnsafeBytes {
      unsafe vips_image_new_from_memory_copy(
        $0.baseAddress, $0.count, Int32(width), Int32(height), Int32(bands), format)
    }
    guard let pointer = unsafe pointer else { throw JobFailure.noMemory(saying: Vips.takeError()) }
    unsafe self.pointer = pointer
    unsafe pointer.pointee.Type = bands < 3 ? VIPS_INTERPRETATION_B_W : VIPS_INTERPRETATION_sRGB
  }

  deinit { unsafe g_object_unref(pointer) }

  var width: Int { unsafe Int(vips_image_get_width(pointer)) }
  var height: Int { unsafe Int(vips_image_get_height(pointer)) }
  var bands: Int { unsafe Int(vips_image_get_bands(pointer)) }
  var hasAlpha: Bool { unsafe vips_image_hasalpha(pointer) != 0 }
  /// The EXIF orientation, 1 for upright.
  var orientation: Int { unsafe Int(vips_image_get_orientation(pointer)) }
  var interpretation: VipsInterpretation { unsafe vips_image_get_interpretation(pointer) }
  var format: VipsBandFormat { unsafe vips_image_get_format(pointer) }
  var isByte: Bool { unsafe vips_image_get_format(pointer) == VIPS_FORMAT_UCHAR }
  var isFloat: Bool { unsafe [VIPS_FORMAT_FLOAT, VIPS_FORMAT_DOUBLE].contains(vips_image_get_format(pointer)) }
  /// Whether colours share an exponent, as in Radiance files, and must be unpacked first.
  var isPacked: Bool { unsafe vips_image_get_coding(pointer) == VIPS_CODING_RAD }
  /// The number of frames in the file. 1 if it is not animated.
  var framesInFile: Int { unsafe Int(vips_image_get_n_pages(pointer)) }
  /// The number of frames in this image, stored one below the other.
  var frames: Int { height / frameHeight }
  var frameHeight: Int { unsafe Int(vips_image_get_page_height(pointer)) }
  /// The density, in pixels per millimetre.
  var density: Double { unsafe vips_image_get_xres(pointer) }

  /// The operation that loaded the image, or the name set here if libvips did not. Empty if none.
  var loader: String {
    get {
      var name: UnsafePointer<CChar>?
      guard has("vips-loader"), unsafe vips_image_get_string(pointer, "vips-loader", &name) == 0 else { return "" }
      return unsafe name.map { unsafe String(cString: $0) } ?? ""
    }
    set { unsafe vips_image_set_string(pointer, "vips-loader", newValue) }
  }

  func has(_ field: String) -> Bool { unsafe vips_image_get_typeof(pointer, field) != 0 }

  /// Returns metadata of the image: `exif-data`, `icc-profile-data` …
  func blob(_ field: String) -> [UInt8]? {
    guard has(field) else { return nil }
    var data: UnsafeRawPointer?
    var count = 0
    guard unsafe vips_image_get_blob(pointer, field, &data, &count) == 0, let data = unsafe data else { return nil }
    return unsafe Array(UnsafeRawBufferPointer(start: data, count: count))
  }

  /// Returns a copy with an EXIF orientation.
  func oriented(_ orientation: Int) throws(JobFailure) -> VipsPicture {
    let copy = try applying("copy")
    unsafe vips_image_set_int(copy.pointer, "orientation", Int32(orientation))
    return copy
  }

  /// Returns the result of an operation on this image. `arguments` are numbers and nicknames.
  func applying(_ name: String, to argument: String = "in", _ arguments: KeyValuePairs<String, String> = [:])
    throws(JobFailure) -> VipsPicture
  {
    var call = try VipsCall(name)
    call.set(argument, self)
    for (name, value) in arguments { call.set(name, value) }
    return try keeping(call.result())
  }

  private func keeping(_ result: VipsPicture) -> VipsPicture {
    result.origins.append(self)
    return result
  }

  /// Applies `body` to each frame. All results must have the same size. Reads the frames into memory.
  func mappingFrames(_ body: (VipsPicture) throws(JobFailure) -> VipsPicture) throws(JobFailure) -> VipsPicture {
    guard frames > 1 else {
      let changed = try body(self)
      // Updates the page height to the new size.
      if changed.has("page-height") { unsafe vips_image_set_int(changed.pointer, "page-height", Int32(changed.height)) }
      return changed
    }
    guard width * height <= ImageSource.mostPixels.whole else {
      throw JobFailure(.limit, "has \(frames) frames of \(width) × \(frameHeight) pixels, which is too much")
    }
    let all = try inMemory()
    var changed: [VipsPicture] = []
    for index in 0..<frames {
      let place = "\(index * frameHeight)"
      let frame = try all.applying(
        "crop", to: "input", ["left": "0", "top": place, "width": "\(width)", "height": "\(frameHeight)"])
      changed.append(try body(frame))
    }
    var call = try VipsCall("arrayjoin")
    call.set("in", changed)
    call.set("across", 1)
    let joined = try call.result()
    unsafe vips_image_set_int(joined.pointer, "page-height", Int32(changed[0].height))
    return joined
  }

  /// Returns a copy with all pixels in memory, for operations that do not read from the top down.
  func inMemory() throws(JobFailure) -> VipsPicture {
    guard let copy = unsafe vips_image_copy_memory(pointer) else {
      throw JobFailure(.damaged, "cannot be decoded", saying: Vips.takeError())
    }
    return unsafe VipsPicture(copy)
  }

  /// Whether the samples are integers of 32 bits, or gray ones with fractions. To libvips white is 255 in both.
  var hasWideSamples: Bool { format == VIPS_FORMAT_UINT || format == VIPS_FORMAT_FLOAT && bands == 1 }

  /// Returns such a picture with samples of 16 bits. White is the largest integer, or 1 if no fraction is larger; other
  /// fractions stay as they are.
  func narrowed() throws(JobFailure) -> VipsPicture {
    let deep: VipsPicture
    if isFloat {
      let image = try inMemory()
      guard let data = unsafe vips_image_get_data(image.pointer) else { throw JobFailure.noMemory() }
      let samples = unsafe UnsafeRawBufferPointer(start: data, count: 4 * width * height).bindMemory(to: Float.self)
      guard unsafe samples.allSatisfy({ !($0 > 1) }) else { return image }
      deep = try image.applying("linear", ["a": "65535", "b": "0.5"]).applying("cast", ["format": "ushort"])
    } else {
      deep = try applying("boolean_const", ["boolean": "rshift", "c": "16"]).applying("cast", ["format": "ushort"])
    }
    return try deep.applying("copy", ["interpretation": bands < 3 ? "grey16" : "rgb16"])
  }

  /// Returns a copy without some metadata.
  func removing(where isRemoved: (String) -> Bool) throws(JobFailure) -> VipsPicture {
    let copy = try applying("copy")
    guard let names = unsafe vips_image_get_fields(copy.pointer) else { return copy }
    defer { unsafe g_strfreev(names) }
    var index = 0
    while let name = unsafe names[index] {
      if isRemoved(unsafe String(cString: name)) { _ = unsafe vips_image_remove(copy.pointer, name) }
      index += 1
    }
    return copy
  }
}

extension ImageChanges {
  /// Returns the part to keep of a picture with these sides. Returns `nil` for all of it.
  func rectangle(_ width: Int, _ height: Int) throws(JobFailure) -> ImageArea.Rectangle? {
    guard area != nil || ratio != nil else { return nil }
    var (left, top, right, bottom) = (0, 0, width, height)
    if let area {
      (left, top) = (area.left, area.top)
      (right, bottom) = (min(width, left + area.width), min(height, top + area.height))
      guard left < right, top < bottom else {
        throw JobFailure(.unsupported, "has \(width) × \(height) pixels, and none where it is to be cropped")
      }
    }
    guard let ratio else {
      return ImageArea.Rectangle(width: right - left, height: bottom - top, left: left, top: top)
    }
    let inner = ratio.rectangle(right - left, bottom - top)
    return ImageArea.Rectangle(
      width: inner.width, height: inner.height, left: left + inner.left, top: top + inner.top)
  }
}

extension VipsPicture {
  /// Returns the requested part of each frame.
  func cropped(by changes: ImageChanges) throws(JobFailure) -> VipsPicture {
    guard let part = try changes.rectangle(width, frameHeight) else { return self }
    return try mappingFrames { (frame) throws(JobFailure) in try frame.part(part) }
  }

  private func part(_ part: ImageArea.Rectangle) throws(JobFailure) -> VipsPicture {
    try applying(
      "crop", to: "input",
      ["left": "\(part.left)", "top": "\(part.top)", "width": "\(part.width)", "height": "\(part.height)"])
  }

  /// Returns each frame scaled down to fit, if it is larger.
  func scaled(within width: Int, _ height: Int) throws(JobFailure) -> VipsPicture {
    guard width < self.width || height < frameHeight else { return self }
    let isInked = interpretation == VIPS_INTERPRETATION_CMYK
    return try (isInked ? inSRGB() : self).mappingFrames { (frame) throws(JobFailure) in
      try frame.applying("thumbnail_image", ["width": "\(width)", "height": "\(height)", "size": "down"])
    }
  }

  /// Returns the picture rotated and mirrored, then cut to the requested tile.
  func turned(by changes: ImageChanges) throws(JobFailure) -> VipsPicture {
    guard changes.turn != nil || changes.isFlipped || changes.isMirrored || changes.tile != nil else { return self }
    return try mappingFrames { (frame) throws(JobFailure) in
      var image = try frame.inMemory()
      if let turn = changes.turn { image = try image.applying("rot", ["angle": "d\(turn.rawValue)"]) }
      if changes.isFlipped { image = try image.applying("flip", ["direction": "vertical"]) }
      if changes.isMirrored { image = try image.applying("flip", ["direction": "horizontal"]) }
      guard let tile = changes.tile else { return image }
      guard let part = tile.rectangle(image.width, image.height) else {
        throw JobFailure(
          .unsupported, "has \(image.width) × \(image.height) pixels, too few for the given number of tiles")
      }
      return try image.part(part)
    }
  }
}

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
