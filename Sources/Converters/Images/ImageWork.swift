internal import CVips
public import Catalogue
public import Pixels
public import WorkerKit

/// The conversion of one image from one file to another.
public struct ImageWork {
  private let format: ImageFormat
  private let changes: ImageChanges
  private var picture: VipsPicture
  /// The bits per sample of a PNG, 1 for black and white.
  private var depth = 8

  /// Converts an image file: all pages of a TIFF if the result is one, all frames if the result can be animated,
  /// otherwise the first one. Returns a remark.
  public static func convert(
    _ input: JobInput, to format: ImageFormat, _ changes: ImageChanges, _ output: JobOutput
  ) throws(JobFailure) -> String {
    if let copy = try UnchangedPicture(input, to: format, changes) {
      try unsafe output.write(copy.bytes.span.bytes)
      return copy.remark
    }
    let pages = ImagePages(input)
    let count = format == .tiff ? try pages.count() : 1
    guard count == 1 || changes.thousands == nil else {
      throw JobFailure(.unsupported, "has \(count) pages, which cannot be limited to a total size")
    }
    let remark = try pages.make(of: 0) { (input, page) throws(JobFailure) in
      try ImageWork(input, page, to: format, changes).write(to: output)
    }
    guard count > 1 else { return remark }
    var made = try TIFFPages(behind: output)
    for index in 1..<count {
      try pages.make(of: index) { (input, page) throws(JobFailure) in
        try made.add(
          ImageFile.tiff(quality: changes.quality).bytes(of: ImageWork(input, page, to: .tiff, changes).prepared()))
      }
    }
    return remark
  }

  /// Reads an image's header, checks that it can be converted, and determines how.
  init(_ input: JobInput, _ page: TIFFFile.Selection?, to format: ImageFormat, _ changes: ImageChanges)
    throws(JobFailure)
  {
    var changes = changes
    var selection = ImageSource.Selection(page: page, resolution: changes.resolution, frame: changes.frame)
    selection.keepsFrames = format.traits.hasFrames && changes.frame == nil
    if case .within(let width, let height) = changes.size { selection.sides = (width, height) }
    let source: ImageSource
    if format == .jpeg, let preview = try RawPhoto.preview(of: input, page?.file, changes) {
      source = try ImageSource(file: preview)
    } else {
      source = try ImageSource(input, selection)
    }
    // The file's name determines the source's size.
    if source.isPlanar { changes.size = nil }
    self.format = format
    self.changes = changes
    let isTurned = source.picture.orientation > 4
    let width = isTurned ? source.picture.frameHeight : source.picture.width
    let height = isTurned ? source.picture.width : source.picture.frameHeight
    let isWhole = try changes.rectangle(width, height) == nil
    if isWhole, let size = changes.size, let box = size.box(width, height), box.width < width || box.height < height {
      picture = try source.thumbnail(width: box.width, height: box.height)
    } else if source.picture.orientation != 1 {
      picture = try source.picture.mappingFrames { (frame) throws(JobFailure) in
        try frame.inMemory().applying("autorot")
      }
    } else {
      picture = source.picture
    }
    if !isWhole {
      picture = try picture.cropped(by: changes)
      let box = changes.size?.box(picture.width, picture.frameHeight)
      if let box { picture = try picture.scaled(within: box.width, box.height) }
    }
    if case .percent(let percent) = changes.size, percent > 100 {
      picture = try picture.mappingFrames { (frame) throws(JobFailure) in
        try frame.applying("resize", ["scale": "\(Double(percent) / 100)"])
      }
    }
  }

  /// Starts from rendered pixels of three bytes each.
  public init(
    rgb bytes: UnsafeRawBufferPointer, width: Int, height: Int, density: Double, keeping owner: AnyObject,
    to format: ImageFormat, _ changes: ImageChanges
  ) throws(JobFailure) {
    let pixels = try unsafe VipsPicture(rgb: bytes, width: width, height: height, keeping: owner)
    try self.init(pixels, "srgb", density: density, to: format, changes)
  }

  /// Starts from gray or sRGB pixels.
  ///
  /// - Parameter depth: the bits per sample of a PNG. 1 for samples that are black or white.
  public init(
    _ samples: Samples, density: Double, to format: ImageFormat, _ changes: ImageChanges, depth: Int = 8
  ) throws(JobFailure) {
    let pixels = try unsafe VipsPicture(
      copying: samples.bytes.span.bytes, width: samples.width, height: samples.height, bands: samples.bands)
    try self.init(pixels, samples.bands == 1 ? "b-w" : "srgb", density: density, to: format, changes)
    self.depth = depth
  }

  /// - Parameter density: the pixels per inch before the size is changed.
  private init(
    _ pixels: VipsPicture, _ space: String, density: Double, to format: ImageFormat, _ changes: ImageChanges
  ) throws(JobFailure) {
    self.format = format
    self.changes = changes
    let part = try pixels.cropped(by: changes)
    var shown = part
    if let size = changes.size, let box = size.box(part.width, part.height),
      box.width < part.width || box.height < part.height
    {
      shown = try part.applying(
        "thumbnail_image", ["width": "\(box.width)", "height": "\(box.height)", "size": "down"])
    }
    // In pixels per millimetre. The paper size does not change.
    let resolution = "\(density / 25.4 * Double(shown.width) / Double(part.width))"
    picture = try shown.applying("copy", ["interpretation": space, "xres": resolution, "yres": resolution])
  }

  /// Applies the changes and writes the file. A PDF is made from a `PageImage` instead. Returns a remark.
  @discardableResult public func write(to output: JobOutput) throws(JobFailure) -> String {
    if let thousands = changes.thousands {
      let bytes = try BoundedFile(self, bytes: 1000 * thousands).bytes()
      try unsafe output.write(bytes.span.bytes)
      return ""
    }
    let ready = try prepared()
    try format.encoder(quality: changes.quality, depth: depth).write(ready, to: output)
    if format == .tiff, let words = ready.blob("exif-data") { try TIFFWords.add(words, to: output) }
    return format == .yuv
      ? "is \(ready.width) × \(ready.height) pixels in planes, 4:2:0 by BT.601, without a header that says so" : ""
  }

  /// Returns the image rotated, in colours that the format supports, and with the metadata to keep.
  func prepared() throws(JobFailure) -> VipsPicture { try prepared(picture) }

  private func prepared(_ picture: VipsPicture) throws(JobFailure) -> VipsPicture {
    var image = try picture.turned(by: changes)
    image = try image.inColours(of: format, gray: changes.isGray).removing(where: \.isMisnamedComment)
    if changes.dropsMetadata {
      image = try image.removing { name in
        ["exif-", "xmp-", "iptc-", "photoshop-", "png-comment-", "gif-comment", "jpeg-thumbnail", "image-description"]
          .contains(where: name.hasPrefix)
      }
    }
    return image
  }
}

extension ImageWork: BoundedFile.Subject {
  var hasQuality: Bool { format.traits.hasQuality }
  var mostQuality: Int? { changes.quality }

  func inMemory() throws(JobFailure) -> ImageWork {
    guard picture.width * picture.height <= ImageSource.mostPixels.whole else {
      throw JobFailure(.limit, "has \(picture.width) × \(picture.height) pixels, which is too much to try sizes")
    }
    var copy = self
    copy.picture = try picture.inMemory()
    return copy
  }

  func bytes(scaledBy scale: Double, quality: Int?) throws(JobFailure) -> [UInt8]? {
    var image = picture
    if scale < 1 {
      let (width, height) = (Int(Double(image.width) * scale), Int(Double(image.frameHeight) * scale))
      guard width > 0, height > 0 else { return nil }
      image = try image.scaled(within: width, height)
    }
    return try format.encoder(quality: quality, depth: depth).bytes(of: prepared(image))
  }
}

extension String {
  /// Whether a field is a PNG text whose keyword PNG does not permit (ISO/IEC 15948, 11.3.4.2). libvips reads, but does
  /// not write these.
  fileprivate var isMisnamedComment: Bool {
    guard hasPrefix("png-comment-") else { return false }
    let name = split(separator: "-", maxSplits: 3, omittingEmptySubsequences: false).dropFirst(3).first ?? ""
    let isPrintable = name.utf8.allSatisfy { (0x20...0x7e).contains($0) }
    let hasGaps = name.hasPrefix(" ") || name.hasSuffix(" ") || name.contains("  ")
    return !(1...79).contains(name.utf8.count) || !isPrintable || hasGaps
  }
}

extension ImageChanges.Size {
  /// Returns the box that an image with these sides must fit into. Returns `nil` if it keeps its size or would grow.
  func box(_ width: Int, _ height: Int) -> (width: Int, height: Int)? {
    switch self {
    case .longestSide(let side): (side, side)
    case .within(let width, let height): (width, height)
    case .percent(let percent) where percent < 100:
      (max(1, (width * percent + 50) / 100), max(1, (height * percent + 50) / 100))
    case .percent: nil
    }
  }
}
