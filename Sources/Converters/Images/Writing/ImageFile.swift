internal import CVips
internal import Catalogue
internal import Glibc
internal import Pixels
internal import WorkerKit

/// A file of a format that libvips writes.
struct ImageFile: ImageEncoder {
  private let saver: String
  private let arguments: [(String, String)]

  /// - Parameter saver: The name of libvips's operation, without `_target`.
  init(_ saver: String, _ arguments: [(String, String)] = []) {
    self.saver = saver + "_target"
    self.arguments = arguments
  }

  static func jpeg(quality: Int?) -> ImageFile { ImageFile("jpegsave", [("Q", "\(quality ?? 85)")]) }

  /// - Parameter depth: 1 for samples that are black or white. Otherwise 8, and the samples decide.
  static func png(depth: Int = 8) -> ImageFile {
    ImageFile("pngsave", depth < 8 ? [("bitdepth", "\(depth)")] : [])
  }

  /// Lossless unless a quality is given.
  static func tiff(quality: Int?) -> ImageFile {
    guard let quality else { return ImageFile("tiffsave", [("compression", "deflate"), ("predictor", "horizontal")]) }
    return ImageFile("tiffsave", [("compression", "jpeg"), ("Q", "\(quality)")])
  }

  func bytes(of image: VipsPicture) throws(JobFailure) -> [UInt8] {
    guard let target = unsafe vips_target_new_to_memory() else {
      throw JobFailure.noMemory(saying: Vips.takeError())
    }
    defer { unsafe g_object_unref(target) }
    try unsafe save(image, to: target)
    var count = 0
    let blob = unsafe vips_blob_get(target.pointee.blob, &count)
    var bytes = unsafe Array(UnsafeRawBufferPointer(start: blob, count: count))
    let repeated = isPNG ? PNGChunks.repeatedEXIF(size: count) { Array(bytes[$0..<$0 + $1]) } : nil
    if let repeated { bytes.removeSubrange(repeated) }
    return bytes
  }

  func write(_ image: VipsPicture, to output: JobOutput) throws(JobFailure) {
    guard let target = unsafe vips_target_new_to_descriptor(output.descriptor) else {
      throw JobFailure(.system, "cannot be written", saying: Vips.takeError())
    }
    defer { unsafe g_object_unref(target) }
    try unsafe save(image, to: target)
    if isPNG, image.has("exif-data") { try dropRepeatedEXIF(of: output) }
  }

  private var isPNG: Bool { saver.hasPrefix("pngsave") }

  private func dropRepeatedEXIF(of output: JobOutput) throws(JobFailure) {
    let repeated = PNGChunks.repeatedEXIF(size: Int(try output.size())) { place, count in
      var bytes = [UInt8](repeating: 0, count: count)
      return unsafe pread(output.descriptor, &bytes, count, off_t(place)) == count ? bytes : []
    }
    guard let repeated else { return }
    try unsafe output.write(PNGChunks.chunk("IEND", []).span.bytes, at: Int64(repeated.lowerBound))
    guard ftruncate(output.descriptor, off_t(repeated.lowerBound + 12)) == 0 else {
      throw JobFailure("cannot be written", errno: errno)
    }
  }

  private func save(_ image: VipsPicture, to target: UnsafeMutablePointer<VipsTarget>) throws(JobFailure) {
    if saver.hasPrefix("heifsave") { try HEIFEncoder.av1.require() }
    var call = try VipsCall(saver)
    call.set("in", image)
    unsafe call.set("target", target: target)
    for (name, value) in arguments { call.set(name, value) }
    // Since version 8.15, libvips writes EXIF data even if the image has none.
    if isPNG, !image.has("exif-data"), (vips_version(0), vips_version(1)) >= (8, 15) {
      call.set("keep", "xmp:iptc:icc:other")
    }
    try call.run()
  }
}
