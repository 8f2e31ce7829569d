internal import CVips
internal import Conversion
internal import Glibc
internal import JobFiles

/// An image as a file has it, before anything is done to it.
@safe final class ImageSource {
  private let source: InputSource
  /// Upright only after `orientation`; its pixels come once, from the top down. It keeps what it is read from, so nothing
  /// else has to.
  let picture: VipsPicture
  /// The loader can make it smaller while it reads.
  let canShrink: Bool

  /// A gigapixel, read a few lines at a time; for formats that have to be in memory as a whole, a quarter of it.
  private static let mostPixels = (streamed: 1 << 30, whole: 1 << 28)
  private static let streamed = [
    "VipsForeignLoadJpeg", "VipsForeignLoadPng", "VipsForeignLoadTiff", "VipsForeignLoadPpm",
  ]

  init(_ input: JobInput, resolution: Int?) throws(JobFailure) {
    source = try InputSource(input)
    var limit = ImageSource.mostPixels.whole
    if input.starts(with: [0x42, 0x4D]) {
      picture = try BitmapFile(input).picture()
      canShrink = false
    } else if input.starts(with: [0x76, 0x2F, 0x31, 0x01]) {
      picture = try ImageSource.openEXR(input)
      canShrink = false
    } else {
      guard let loader = unsafe vips_foreign_find_load_source(source.pointer).map({ unsafe String(cString: $0) }) else {
        _ = Vips.takeError()
        throw JobFailure(.unsupported, "is no image of a kind that is known here")
      }
      if ImageSource.streamed.contains(where: loader.hasPrefix) { limit = ImageSource.mostPixels.streamed }
      var call = try VipsCall(loader)
      unsafe call.set("source", source: source.pointer)
      call.set("access", "sequential")
      call.set("fail-on", "error")
      if let resolution, loader.hasPrefix("VipsForeignLoadSvg") { call.set("dpi", resolution) }
      picture = try call.result()
      canShrink = true
    }
    // Loaders that were tried in vain have left their complaints.
    _ = Vips.takeError()
    guard picture.width * picture.height <= limit else {
      throw JobFailure(.limit, "has \(picture.width) × \(picture.height) pixels, which is too much")
    }
  }

  /// The image upright and no larger than a box, read at the least cost.
  func thumbnail(width: Int, height: Int) throws(JobFailure) -> VipsPicture {
    var call = try VipsCall(canShrink ? "thumbnail_source" : "thumbnail_image")
    if canShrink {
      unsafe call.set("source", source: source.pointer)
      // Its own argument of this name is not handed on to every loader.
      call.set("option-string", "[fail_on=error]")
    } else {
      call.set("in", picture)
    }
    call.set("width", width)
    call.set("height", height)
    call.set("size", "down")
    return try call.result()
  }

  /// libvips reads OpenEXR by a name only.
  private static func openEXR(_ input: JobInput) throws(JobFailure) -> VipsPicture {
    try ScratchFile.with(input) { (path) throws(JobFailure) in
      var call = try VipsCall("openexrload")
      call.set("filename", path)
      // Read now, before the file is empty again.
      return try call.result().inMemory()
    }
  }
}
