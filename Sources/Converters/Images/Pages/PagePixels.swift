internal import CVips
internal import Catalogue
public import Pixels
public import WorkerKit

/// The visible pixels of an image that is a page: upright, in sRGB or gray, without transparency.
public struct PagePixels: Sendable {
  /// The samples, in one or three bands.
  public let samples: Samples
  /// The pixels per inch. Nil if the file does not contain a plausible value.
  public let density: Double?

  public init(samples: Samples, density: Double?) {
    self.samples = samples
    self.density = density
  }

  /// Reads the first image of a file.
  public init(firstOf input: JobInput) throws(JobFailure) {
    self = try ImagePages(input).make(of: 0) { (input, page) throws(JobFailure) in
      try PagePixels(input, page)
    }
  }

  /// Calls `body` with each image of a file that is a page of its own, one at a time in memory.
  ///
  /// - Throws: errors of `body`, and a failure if an image is damaged or has more than `Samples.limit` bytes.
  public static func forEach(
    of input: JobInput, _ body: (PagePixels) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    let pages = ImagePages(input)
    for index in 0..<(try pages.count()) {
      let pixels = try pages.make(of: index) { (input, page) throws(JobFailure) in
        try PagePixels(input, page)
      }
      try body(pixels)
    }
  }

  /// Reads one of the images of a file that are pages of their own, counted from 0.
  public init(page index: Int, of input: JobInput) throws(JobFailure) {
    let pages = ImagePages(input)
    guard try index < pages.count() else { throw JobFailure(.absent, "has no page \(index + 1)") }
    self = try pages.make(of: index) { (input, page) throws(JobFailure) in try PagePixels(input, page) }
  }

  /// Returns the number of images of a file that are pages of their own.
  public static func count(in input: JobInput) throws(JobFailure) -> Int { try ImagePages(input).count() }

  private init(_ input: JobInput, _ page: TIFFFile.Selection?) throws(JobFailure) {
    var image = try ImageWork(input, page, to: .jpeg, ImageChanges()).prepared()
    if image.profile != nil { image = try image.inSRGB() }
    // Gray is sufficient to recognize text in very large images.
    if image.bands > 1, image.width > Samples.limit / image.bands / image.height {
      image = try image.applying("colourspace", ["space": "b-w"])
    }
    let said = image.density * 25.4
    density = (30...5000).contains(said) ? said : nil
    let (width, height, bands) = (image.width, image.height, image.bands)
    guard [1, 3].contains(bands), image.isByte, width <= Samples.limit / bands / height else {
      throw JobFailure(.limit, "has \(width) × \(height) pixels, which is too much for a page")
    }
    let pixels = try image.inMemory()
    let bytes = unsafe vips_image_get_data(pixels.pointer)
    let copy = unsafe Array(UnsafeRawBufferPointer(start: bytes, count: width * height * bands))
    guard let samples = Samples(width: width, height: height, bands: bands, bytes: copy) else {
      throw JobFailure.noMemory()
    }
    self.samples = samples
  }
}
