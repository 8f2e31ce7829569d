internal import CVips
internal import Catalogue
internal import Glibc
internal import Pictures
internal import Pixels
internal import WorkerKit

/// An image as stored in a file, before any change.
@safe final class ImageSource {
  private let source: InputSource
  /// The picture, upright only after `orientation` is applied. Its pixels can be read once, from the top down. It
  /// retains the objects it is read from.
  let picture: VipsPicture
  /// Whether the loader can scale down while reading.
  let canShrink: Bool
  /// Whether the file has no header and the selection determined the size of its picture.
  let isPlanar: Bool

  /// The maximum number of pixels: a gigapixel for formats read a few lines at a time, a quarter of it for formats that
  /// must be in memory as a whole.
  static let mostPixels = (streamed: 1 << 30, whole: 1 << 28)
  private static let streamed = [
    "VipsForeignLoadJpeg", "VipsForeignLoadPng", "VipsForeignLoadTiff", "VipsForeignLoadPpm",
  ]
  /// The maximum number of frames of a GIF. libvips silently reads no more.
  private static let mostFrames = 4096
  private static let animated = ["VipsForeignLoadNsgif", "VipsForeignLoadWebp"]

  /// The requested part of a file.
  struct Selection {
    /// The page to read of a TIFF file.
    var page: TIFFFile.Selection?
    /// The resolution of vector images, in pixels per inch.
    var resolution: Int?
    /// The frame of an animation to read, counted from 1. Nil for the first.
    var frame: Int?
    /// Whether all frames of an animation are read.
    var keepsFrames = false
    /// The sides of a picture whose file does not contain them.
    var sides: (width: Int, height: Int)?
  }

  init(_ input: JobInput, _ selection: Selection = Selection()) throws(JobFailure) {
    // An icon may be a file of another format in a list.
    let input = try EmbeddedIcon.file(in: input) ?? input
    let page = selection.page
    let palette = page == nil ? unsafe JPEG2000Palette(input.bytes) : nil
    let unreadBits = page?.page.unreadBits
    let isApart = page?.page.isYCbCr ?? false || unreadBits != nil
    let profile = PNGProfile(input)
    let patches =
      (isApart ? page?.headerPatches : page?.patches) ?? palette?.patches
      ?? (profile?.patch ?? ImageSource.sequencePatch(of: input)).map { [$0] } ?? []
    source = try InputSource(InputStream(input, patches, tail: page?.tail ?? []))
    let planes = try ImageSource.readPlanes(input, selection)
    isPlanar = planes != nil
    if selection.keepsFrames || selection.frame ?? 1 > 1, let moving = try MovingPNG(input) {
      guard selection.frame ?? 1 <= moving.count else { throw ImageSource.noFrame(of: moving.count) }
      (picture, canShrink) = (try moving.picture(selection.frame), false)
      return
    }
    let own = if let planes { Optional(planes) } else { try ImageSource.read(input, selection) }
    if let picture = own {
      guard selection.frame ?? 1 == 1 else { throw ImageSource.noFrame(of: 1) }
      (self.picture, canShrink) = (picture, false)
      try ImageSource.check(picture, limit: ImageSource.mostPixels.whole)
      return
    }
    let loaded = try ImageSource.load(source, selection)
    if let page, let unreadBits {
      picture = try TIFFSamples(input, page, bits: unreadBits).picture(like: loaded)
    } else if let page, isApart {
      picture = try TIFFColours(input, page.patches, orientation: page.page.orientation).picture(like: loaded)
    } else if let palette {
      picture = try palette.applied(to: loaded)
    } else if let file = try AnymapFile(input) {
      picture = try file.picture(as: loaded)
    } else if let orientation = profile?.orientation {
      picture = try loaded.oriented(orientation)
    } else if loaded.hasWideSamples {
      try ImageSource.check(loaded, limit: ImageSource.mostPixels.whole)
      picture = try loaded.narrowed()
    } else if loaded.isPacked {
      picture = try loaded.applying("rad2float")
    } else {
      (picture, canShrink) = (loaded, selection.frame == nil)
      return
    }
    canShrink = false
  }

  /// Reads a picture from a file in memory.
  init(file bytes: [UInt8]) throws(JobFailure) {
    source = try InputSource(InputStream(bytes))
    isPlanar = false
    picture = try ImageSource.load(source, Selection())
    canShrink = true
  }

  /// Returns the patch that changes the brand of an AVIF sequence, which has a first picture, to AVIF. libheif reads no
  /// other brand.
  private static func sequencePatch(of input: JobInput) -> InputStream.Patch? {
    let brand = 8
    guard input.count > brand + 4, unsafe input.bytes[4..<brand + 4].elementsEqual("ftypavis".utf8) else { return nil }
    return InputStream.Patch(place: brand, bytes: Array("avif".utf8))
  }

  /// The first bytes of JPEG, PNG, GIF and WebP files, which are not examined any further.
  private static let usual: [[UInt8]] = [
    [0xFF, 0xD8, 0xFF], PNGChunks.signature, Array("GIF8".utf8), Array("RIFF".utf8),
  ]

  /// Reads a format that libvips does not read, or not from a stream.
  private static func read(_ input: JobInput, _ selection: Selection) throws(JobFailure) -> VipsPicture? {
    if unsafe Format.bmp.isSignature(Array(input.bytes.prefix(64))[...]) { return try BitmapFile(input).picture() }
    if input.starts(with: [0x76, 0x2F, 0x31, 0x01]) {
      try ReducedProgram.requireLibraries()
      return try openEXR(input)
    }
    if usual.contains(where: input.starts) { return nil }
    if let photo = RawPhoto(input, selection.page?.file) { return try photo.picture() }
    if let page = selection.page {
      return page.page.isOldJPEG ? try TIFFColours(input, page.patches, orientation: 1).picture() : nil
    }
    if let icon = EmbeddedIcon(input) { return try icon.picture() }
    if let file = try PhotoshopFile(input) { return try VipsPicture(file.pixels()) }
    if let pixels = try FloatMap.pixels(of: input) { return try VipsPicture(pixels) }
    if let file = try SurfaceFile(input) { return try VipsPicture(file.pixels()) }
    if let file = try ArbitraryMap(input) { return try VipsPicture(file.pixels()) }
    if let file = try QOIFile(input) { return try VipsPicture(file.pixels()) }
    guard let codec = PictureCodec(input) else { return nil }
    if codec == .tga, let file = try GrayTarga(input) { return try VipsPicture(file.pixels()) }
    if codec == .fits, let file = FITSFile.firstPlane(of: input) { return try VipsPicture(codec.pixels(of: file)) }
    if codec == .xpm { return try VipsPicture(codec.pixels(of: PixmapNames.numbered(input))) }
    guard codec.isWhole(input) else { throw JobFailure(.damaged, "ends before its last pixel") }
    let pixels = try unsafe codec.pixels(of: input.bytes)
    return try VipsPicture(pixels)
  }

  /// Reads a file without a known signature, with the size of one or several planar pictures with the selected sides.
  private static func readPlanes(_ input: JobInput, _ selection: Selection) throws(JobFailure) -> VipsPicture? {
    let head = unsafe Array(input.bytes.prefix(4096))
    guard let sides = selection.sides, let size = PlanarPicture.size(sides.width, sides.height),
      input.count % size == 0, !Format.images.contains(where: { $0.isSignature(head[...]) })
    else { return nil }
    return try unsafe VipsPicture(
      PlanarPicture.pixels(of: input.bytes, width: sides.width, height: sides.height))
  }

  private static func load(
    _ source: InputSource, _ selection: Selection
  ) throws(JobFailure) -> VipsPicture {
    guard let loader = unsafe vips_foreign_find_load_source(source.pointer).map({ unsafe String(cString: $0) }) else {
      _ = Vips.takeError()
      throw JobFailure(.unsupported, "is not an image of a known kind")
    }
    if !Vips.isPermitted(loader) { try ReducedProgram.requireLibraries() }
    func open(_ first: Int = 1, frames: Int = 1) throws(JobFailure) -> VipsPicture {
      var call = try VipsCall(loader)
      unsafe call.set("source", source: source.pointer)
      call.set("access", "sequential")
      call.set("fail-on", "error")
      if frames > 1 { call.set("n", frames) }
      if first > 1 { call.set("page", first - 1) }
      if let resolution = selection.resolution, loader.hasPrefix("VipsForeignLoadSvg") { call.set("dpi", resolution) }
      return try call.result()
    }
    let picture = try open()
    // Clears the errors of unsuccessful loaders.
    _ = Vips.takeError()
    let isAnimated = animated.contains(where: loader.hasPrefix)
    let isStreamed = streamed.contains(where: loader.hasPrefix)
    try check(picture, limit: isStreamed ? mostPixels.streamed : mostPixels.whole)
    let frames = picture.framesInFile
    if let frame = selection.frame, frame > 1 {
      guard isAnimated, frame <= frames else { throw noFrame(of: isAnimated ? frames : 1) }
      return try open(frame)
    }
    guard selection.keepsFrames, isAnimated, frames > 1 else { return picture }
    guard frames <= mostFrames else {
      throw JobFailure(.limit, "has more than \(mostFrames) frames, which is too many")
    }
    guard frames <= mostPixels.streamed / (picture.width * picture.height) else {
      throw JobFailure(
        .limit, "has \(frames) frames of \(picture.width) × \(picture.height) pixels, which is too much")
    }
    return try open(frames: frames)
  }

  private static func noFrame(of count: Int) -> JobFailure {
    JobFailure(.unsupported, count == 1 ? "has a single picture" : "has only \(count) pictures")
  }

  private static func check(_ picture: VipsPicture, limit: Int) throws(JobFailure) {
    guard picture.width * picture.height <= limit else {
      throw JobFailure(.limit, "has \(picture.width) × \(picture.height) pixels, which is too much")
    }
  }

  /// Returns the image upright and scaled to fit into a box, which applies to each frame. Reads no more pixels than
  /// needed.
  func thumbnail(width: Int, height: Int) throws(JobFailure) -> VipsPicture {
    // libvips would use the default profile for CMYK, whatever the file contains.
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

  /// Reads an OpenEXR file, which libvips reads only by path.
  private static func openEXR(_ input: JobInput) throws(JobFailure) -> VipsPicture {
    try ScratchFile.with(input) { (path) throws(JobFailure) in
      var call = try VipsCall("openexrload")
      call.set("filename", path)
      // Read now, before the file is emptied.
      let picture = try call.result().inMemory()
      // Colours are premultiplied by alpha.
      return picture.hasAlpha ? try picture.applying("unpremultiply") : picture
    }
  }
}
