internal import Bytes
internal import CVips
public import Catalogue
public import Pixels
public import WorkerKit

/// An image in an encoding that a PDF page can contain.
public struct PageImage {
  public let form: PictureForm
  /// The encoded pixels. Nil if they are the input's own bytes.
  public let data: [UInt8]?

  /// The default for files without a plausible density, as in browsers.
  private static let usualDensity = 96.0

  /// Calls `body` with each image of a file that becomes a page.
  public static func forEach(
    of input: JobInput, _ changes: ImageChanges, _ body: (PageImage) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    let pages = ImagePages(input)
    for index in 0..<(try pages.count()) {
      try pages.make(of: index) { (input, page) throws(JobFailure) in try body(PageImage(input, page, changes)) }
    }
  }

  /// Reads an image of a file. A JPEG without changes is embedded as it is.
  private init(_ input: JobInput, _ page: TIFFFile.Selection?, _ changes: ImageChanges) throws(JobFailure) {
    var kept = changes
    kept.resolution = nil
    if input.starts(with: [0xFF, 0xD8, 0xFF]), kept == ImageChanges() {
      let picture = try ImageSource(input).picture
      self.init(
        picture, coding: PageImage.jpegCoding(picture), PageImage.jpegFilter, data: nil, changes, picture.orientation)
      return
    }
    let work = try ImageWork(input, page, to: .pdf, changes)
    let image = try work.prepared()
    // Lossless for sharp edges. Lossy if the source was lossy, or a raw photo.
    if changes.quality != nil || ["jpeg", "heif", "webp", "raw"].contains(where: image.loader.hasPrefix) {
      let data = try ImageFile.jpeg(quality: changes.quality).bytes(of: image)
      self.init(image, coding: PageImage.jpegCoding(image), PageImage.jpegFilter, data: data, changes, 1)
    } else {
      let rows = try PNGRows(ImageFile.png().bytes(of: image))
      self.init(image, coding: rows.coding, "/FlateDecode", data: rows.data, changes, 1)
    }
  }

  /// Creates a page encoded as JPEG.
  public init(_ samples: Samples, density: Double, _ changes: ImageChanges) throws(JobFailure) {
    let image = try ImageWork(samples, density: density, to: .pdf, changes).prepared()
    let data = try ImageFile.jpeg(quality: changes.quality).bytes(of: image)
    self.init(image, coding: PageImage.jpegCoding(image), PageImage.jpegFilter, data: data, changes, 1)
  }

  /// Creates a page in black and white.
  public init(_ bits: Bilevel, density: Double) {
    form = PictureForm(
      width: bits.width, height: bits.height, density: density, orientation: 1,
      coding: "/Width \(bits.width) /Height \(bits.height) /BitsPerComponent 1", filter: "/JBIG2Decode", components: 1,
      profile: nil)
    data = JBIG2.bytes(of: bits)
  }

  private init(
    _ picture: VipsPicture, coding: String, _ filter: String, data: [UInt8]?, _ changes: ImageChanges,
    _ orientation: Int
  ) {
    // libvips reports one pixel per millimetre if the file has no density.
    let said = picture.density * 25.4
    let isTurned = orientation > 4
    form = PictureForm(
      width: isTurned ? picture.height : picture.width, height: isTurned ? picture.width : picture.height,
      density: changes.resolution.map(Double.init) ?? ((30...5000).contains(said) ? said : PageImage.usualDensity),
      orientation: orientation, coding: coding, filter: filter, components: picture.bands, profile: picture.profile)
    self.data = data
  }

  private static func jpegCoding(_ picture: VipsPicture) -> String {
    // Programs store CMYK inverted in JPEGs.
    let decode = picture.bands == 4 ? " /Decode [ 1 0 1 0 1 0 1 0 ]" : ""
    return "/Width \(picture.width) /Height \(picture.height) /BitsPerComponent 8\(decode)"
  }

  private static let jpegFilter = "/DCTDecode"
}

/// The rows of a non-interlaced PNG file, whose encoding a PDF shares.
private struct PNGRows {
  let coding: String
  var data: [UInt8] = []

  init(_ file: [UInt8]) {
    func number(_ offset: Int) -> Int { Int(bigEndianBytes: file[offset..<(offset + 4)]) }
    let width = number(16)
    let colours = file[25] == 0 ? 1 : 3
    coding = """
      /Width \(width) /Height \(number(20)) /BitsPerComponent \(file[24]) \
      /DecodeParms << /Predictor 15 /Colors \(colours) /BitsPerComponent \(file[24]) /Columns \(width) >>
      """
    var at = 8
    while at + 12 <= file.count {
      let size = number(at)
      if file[(at + 4)..<(at + 8)].elementsEqual("IDAT".utf8) { data += file[(at + 8)..<(at + 8 + size)] }
      at += 12 + size
    }
  }
}
