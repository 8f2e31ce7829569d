internal import CVips
internal import Conversion
internal import JobFiles

/// A libvips image: what is known of it at once, and pixels that are computed when they are asked for.
@safe final class VipsPicture {
  let pointer: UnsafeMutablePointer<VipsImage>
  /// What the pixels are read from.
  private var origins: [AnyObject] = []

  /// Takes the reference over.
  init(_ pointer: UnsafeMutablePointer<VipsImage>) { unsafe self.pointer = pointer }

  /// Pixels in memory, three bytes each.
  init(rgb bytes: UnsafeRawBufferPointer, width: Int, height: Int, keeping origin: AnyObject) throws(JobFailure) {
    guard
      let pointer = unsafe vips_image_new_from_memory(
        bytes.baseAddress, bytes.count, Int32(width), Int32(height), 3, VIPS_FORMAT_UCHAR)
    else { throw JobFailure.noMemory(saying: Vips.takeError()) }
    unsafe self.pointer = pointer
    origins = [origin]
  }

  /// A copy of pixels without gaps; the last of two or four bands is opacity.
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
  /// EXIF's, 1 for upright.
  var orientation: Int { unsafe Int(vips_image_get_orientation(pointer)) }
  var interpretation: VipsInterpretation { unsafe vips_image_get_interpretation(pointer) }
  var isByte: Bool { unsafe vips_image_get_format(pointer) == VIPS_FORMAT_UCHAR }
  var isFloat: Bool { unsafe [VIPS_FORMAT_FLOAT, VIPS_FORMAT_DOUBLE].contains(vips_image_get_format(pointer)) }
  /// Of the file that it is the first of; 1 where that is nothing that moves.
  var framesInFile: Int { unsafe Int(vips_image_get_n_pages(pointer)) }
  /// How many frames it shows one after the other; in memory one below the other.
  var frames: Int { height / frameHeight }
  var frameHeight: Int { unsafe Int(vips_image_get_page_height(pointer)) }
  /// Pixels a millimetre.
  var density: Double { unsafe vips_image_get_xres(pointer) }

  /// What read it: the name of an operation, or for what libvips did not read, what was said here; empty where nothing was.
  var loader: String {
    get {
      var name: UnsafePointer<CChar>?
      guard has("vips-loader"), unsafe vips_image_get_string(pointer, "vips-loader", &name) == 0 else { return "" }
      return unsafe name.map { unsafe String(cString: $0) } ?? ""
    }
    set { unsafe vips_image_set_string(pointer, "vips-loader", newValue) }
  }

  func has(_ field: String) -> Bool { unsafe vips_image_get_typeof(pointer, field) != 0 }

  /// Bytes that travel with the image: `exif-data`, `icc-profile-data` …
  func blob(_ field: String) -> [UInt8]? {
    guard has(field) else { return nil }
    var data: UnsafeRawPointer?
    var count = 0
    guard unsafe vips_image_get_blob(pointer, field, &data, &count) == 0, let data = unsafe data else { return nil }
    return unsafe Array(UnsafeRawBufferPointer(start: data, count: count))
  }

  /// The result of an operation on this image; `arguments` are numbers and nicknames.
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

  /// Each frame by itself through `body`, which gives all of them the same size; they are put in memory for that.
  func mappingFrames(_ body: (VipsPicture) throws(JobFailure) -> VipsPicture) throws(JobFailure) -> VipsPicture {
    guard frames > 1 else {
      let changed = try body(self)
      // What it says of itself is to be true of its new size as well.
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

  /// All pixels, in memory: for what does not go from the top down.
  func inMemory() throws(JobFailure) -> VipsPicture {
    guard let copy = unsafe vips_image_copy_memory(pointer) else {
      throw JobFailure(.damaged, "cannot be decoded", saying: Vips.takeError())
    }
    return unsafe VipsPicture(copy)
  }

  /// A copy without some of what travels with it.
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
