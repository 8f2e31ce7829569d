internal import CVips
internal import Catalogue
internal import Glibc
internal import WorkerKit

/// An image as stored in a file, before any change.
@safe final class ImageSource {
  private let source: InputSource
  /// Upright only after `orientation`; its pixels can be read once, from the top down. It retains what it is read from.
  let picture: VipsPicture
  /// Whether the loader can scale down while reading.
  let canShrink: Bool

  /// A gigapixel, read a few lines at a time; a quarter of it for formats that must be in memory as a whole.
  static let mostPixels = (streamed: 1 << 30, whole: 1 << 28)
  private static let streamed = [
    "VipsForeignLoadJpeg", "VipsForeignLoadPng", "VipsForeignLoadTiff", "VipsForeignLoadPpm",
  ]
  /// libvips silently reads no more frames of a GIF.
  private static let mostFrames = 4096
  private static let animated = ["VipsForeignLoadNsgif", "VipsForeignLoadWebp"]

  /// - Parameters:
  ///   - page: of a TIFF file, the page to read.
  ///   - resolution: in pixels per inch, for vector images.
  ///   - keepsFrames: whether all frames of an animation are read, not only the first.
  init(
    _ input: JobInput, page: TIFFFile.Selection?, resolution: Int? = nil, keepsFrames: Bool = false
  ) throws(JobFailure) {
    let palette = page == nil ? unsafe JPEG2000Palette(input.bytes) : nil
    let isApart = page?.page.isYCbCr ?? false
    source = try InputSource(input, (isApart ? page?.headerPatches : page?.patches) ?? palette?.patches ?? [])
    if let picture = try ImageSource.read(input, page) {
      (self.picture, canShrink) = (picture, false)
      try ImageSource.check(picture, limit: ImageSource.mostPixels.whole)
      return
    }
    let loaded = try ImageSource.load(source, resolution, keepsFrames: keepsFrames)
    if let page, isApart {
      picture = try TIFFColours(input, page.patches, orientation: page.page.orientation).picture(like: loaded)
    } else if let palette {
      picture = try palette.applied(to: loaded)
    } else if let file = try AnymapFile(input) {
      picture = try file.picture(as: loaded)
    } else {
      (picture, canShrink) = (loaded, true)
      return
    }
    canShrink = false
  }

  /// Formats that libvips does not read, or not from a stream.
  private static func read(_ input: JobInput, _ page: TIFFFile.Selection?) throws(JobFailure) -> VipsPicture? {
    if input.starts(with: [0x42, 0x4D]) { return try BitmapFile(input).picture() }
    if input.starts(with: [0x76, 0x2F, 0x31, 0x01]) { return try openEXR(input) }
    return try RawPhoto(input, page?.file)?.picture()
  }

  private static func load(
    _ source: InputSource, _ resolution: Int?, keepsFrames: Bool
  ) throws(JobFailure) -> VipsPicture {
    guard let loader = unsafe vips_foreign_find_load_source(source.pointer).map({ unsafe String(cString: $0) }) else {
      _ = Vips.takeError()
      throw JobFailure(.unsupported, "is no image of a kind that is known here")
    }
    func open(frames: Int) throws(JobFailure) -> VipsPicture {
      var call = try VipsCall(loader)
      unsafe call.set("source", source: source.pointer)
      call.set("access", "sequential")
      call.set("fail-on", "error")
      if frames > 1 { call.set("n", frames) }
      if let resolution, loader.hasPrefix("VipsForeignLoadSvg") { call.set("dpi", resolution) }
      return try call.result()
    }
    let picture = try open(frames: 1)
    // Clears the errors of loaders that were tried in vain.
    _ = Vips.takeError()
    let isAnimated = animated.contains(where: loader.hasPrefix)
    let isStreamed = streamed.contains(where: loader.hasPrefix)
    try check(picture, limit: isStreamed ? mostPixels.streamed : mostPixels.whole)
    let frames = picture.framesInFile
    guard keepsFrames, isAnimated, frames > 1 else { return picture }
    guard frames <= mostFrames else {
      throw JobFailure(.limit, "has more than \(mostFrames) frames, which is too many")
    }
    guard frames <= mostPixels.streamed / (picture.width * picture.height) else {
      throw JobFailure(
        .limit, "has \(frames) frames of \(picture.width) × \(picture.height) pixels, which is too much")
    }
    return try open(frames: frames)
  }

  private static func check(_ picture: VipsPicture, limit: Int) throws(JobFailure) {
    guard picture.width * picture.height <= limit else {
      throw JobFailure(.limit, "has \(picture.width) × \(picture.height) pixels, which is too much")
    }
  }

  /// The image upright and scaled to fit into a box, which applies to each frame; reads no more pixels than needed.
  func thumbnail(width: Int, height: Int) throws(JobFailure) -> VipsPicture {
    // libvips would take the default profile for CMYK, whatever the file contains.
    let isInked = picture.interpretation == VIPS_INTERPRETATION_CMYK
    let isRead = canShrink && !isInked
    var call = try VipsCall(isRead ? "thumbnail_source" : "thumbnail_image")
    if isRead {
      unsafe call.set("source", source: source.pointer)
      // `thumbnail_source` does not pass its own `fail_on` argument to every loader.
      call.set("option-string", picture.frames > 1 ? "[fail_on=error,n=\(picture.frames)]" : "[fail_on=error]")
    } else {
      call.set("in", isInked ? try picture.inSRGB() : picture)
    }
    call.set("width", width)
    call.set("height", height)
    call.set("size", "down")
    return try call.result()
  }

  /// libvips reads OpenEXR only from a named file.
  private static func openEXR(_ input: JobInput) throws(JobFailure) -> VipsPicture {
    try ScratchFile.with(input) { (path) throws(JobFailure) in
      var call = try VipsCall("openexrload")
      call.set("filename", path)
      // Read now, before the file is emptied.
      return try call.result().inMemory()
    }
  }
}
