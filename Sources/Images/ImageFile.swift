internal import CVips
internal import Conversion
internal import JobFiles

/// A file of a format that libvips writes.
struct ImageFile {
  private let saver: String
  private let arguments: [(String, String)]

  init(_ format: ImageFormat, quality: Int?) {
    func lossy(_ usual: Int) -> (String, String) { ("Q", "\(quality ?? usual)") }
    switch format {
    case .png: (saver, arguments) = ("pngsave_target", [])
    case .webp: (saver, arguments) = ("webpsave_target", [lossy(80)])
    // Lossless unless a quality is asked for.
    case .tiff:
      let compression = quality == nil ? [("compression", "deflate"), ("predictor", "horizontal")] : [("compression", "jpeg"), lossy(85)]
      (saver, arguments) = ("tiffsave_target", compression)
    case .gif: (saver, arguments) = ("gifsave_target", [])
    case .avif: (saver, arguments) = ("heifsave_target", [("compression", "av1"), ("effort", "1"), lossy(60)])
    case .jp2: (saver, arguments) = ("jp2ksave_target", [lossy(75)])
    case .jpeg, .heic, .pdf: (saver, arguments) = ("jpegsave_target", [lossy(85)])
    }
  }

  func write(_ image: VipsPicture, to output: JobOutput) throws(JobFailure) {
    guard let target = unsafe vips_target_new_to_descriptor(output.descriptor) else {
      throw JobFailure(.system, "cannot be written", saying: Vips.takeError())
    }
    defer { unsafe g_object_unref(target) }
    var call = try VipsCall(saver)
    call.set("in", image)
    unsafe call.set("target", target: target)
    for (name, value) in arguments { call.set(name, value) }
    do throws(JobFailure) { try call.run() } catch {
      try output.reasonForFailure()
      throw error
    }
  }
}
