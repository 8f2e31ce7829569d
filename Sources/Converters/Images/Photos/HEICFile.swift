internal import CHeif
internal import CVips
internal import Catalogue
internal import Glibc
internal import WorkerKit

/// An HEIC file, written with libheif directly: libvips cannot select x265's fast presets.
@safe struct HEICFile: ImageEncoder {
  /// The quality, 1 to 100.
  let quality: Int

  func bytes(of image: VipsPicture) throws(JobFailure) -> [UInt8] {
    try HEIFEncoder.hevc.require()
    // libheif's planes have three or four bytes per pixel.
    let image = image.bands < 3 ? try image.applying("colourspace", ["space": "srgb"]) : image
    guard let context = unsafe heif_context_alloc() else { throw JobFailure.noMemory() }
    defer { unsafe heif_context_free(context) }
    var encoder: OpaquePointer?
    try unsafe check(heif_context_get_encoder_for_format(context, heif_compression_HEVC, &encoder))
    defer { unsafe heif_encoder_release(encoder) }
    try unsafe check(heif_encoder_set_lossy_quality(encoder, Int32(quality)))
    try unsafe check(heif_encoder_set_parameter_string(encoder, "preset", "ultrafast"))
    let planes = try unsafe planes(of: image)
    defer { unsafe heif_image_release(planes) }
    var handle: OpaquePointer?
    try unsafe check(heif_context_encode_image(context, planes, encoder, nil, &handle))
    defer { unsafe heif_image_handle_release(handle) }
    if let exif = image.blob("exif-data") {
      let upright = EXIF.upright(exif)
      try unsafe check(heif_context_add_exif_metadata(context, handle, upright, Int32(upright.count)))
    }
    if let xmp = image.blob("xmp-data") {
      try unsafe check(heif_context_add_XMP_metadata(context, handle, xmp, Int32(xmp.count)))
    }
    var writer = unsafe heif_writer(writer_api_version: 1) { _, data, count, user in
      guard let user = unsafe user else { return unsafe heif_error() }
      let collected = unsafe Unmanaged<Collected>.fromOpaque(user).takeUnretainedValue()
      unsafe collected.bytes.append(contentsOf: UnsafeRawBufferPointer(start: data, count: count))
      return unsafe heif_error(
        code: heif_error_Ok, subcode: heif_suberror_Unspecified, message: HEICFile.success)
    }
    let collected = Collected()
    try unsafe check(heif_context_write(context, &writer, Unmanaged.passUnretained(collected).toOpaque()))
    return collected.bytes
  }

  private final class Collected { var bytes: [UInt8] = [] }

  /// The success message, which libheif requires. Safe for any thread: created once, never modified, never freed.
  nonisolated(unsafe) private static let success = unsafe UnsafePointer(strdup("Success"))

  private func check(_ error: heif_error) throws(JobFailure) {
    guard unsafe error.code != heif_error_Ok else { return }
    throw unsafe JobFailure(
      .system, "cannot be encoded", saying: error.message.map { unsafe String(cString: $0) } ?? "")
  }

  /// Copies the pixels row by row from libvips into libheif's memory.
  private func planes(of image: VipsPicture) throws(JobFailure) -> OpaquePointer? {
    let (width, height) = (Int32(image.width), Int32(image.height))
    var planes: OpaquePointer?
    let chroma = image.hasAlpha ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB
    try unsafe check(heif_image_create(width, height, heif_colorspace_RGB, chroma, &planes))
    try unsafe check(heif_image_add_plane(planes, heif_channel_interleaved, width, height, 8))
    var stride: Int32 = 0
    guard let memory = unsafe heif_image_get_plane(planes, heif_channel_interleaved, &stride),
      let region = unsafe vips_region_new(image.pointer)
    else { throw JobFailure.noMemory() }
    defer { unsafe g_object_unref(region) }
    let count = image.width * image.bands
    for top in Swift.stride(from: 0, to: height, by: 64) {
      var strip = VipsRect(left: 0, top: top, width: width, height: min(64, height - top))
      guard unsafe vips_region_prepare(region, &strip) == 0 else {
        throw JobFailure(.damaged, "cannot be decoded", saying: Vips.takeError())
      }
      for row in top..<(top + strip.height) {
        let line = unsafe region.pointee.data + Int(row - top) * Int(region.pointee.bpl)
        unsafe memcpy(memory + Int(row) * Int(stride), line, count)
      }
    }
    if let profile = image.blob("icc-profile-data") {
      try unsafe check(heif_image_set_raw_color_profile(planes, "prof", profile, profile.count))
    }
    return unsafe planes
  }
}
