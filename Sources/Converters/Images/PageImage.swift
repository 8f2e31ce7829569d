internal import CVips
public import Conversion
public import JobFiles

/// An image as a page of a PDF can hold it.
public struct PageImage {
  public let form: PictureForm
  /// nil: the data are the input's own bytes.
  public let data: [UInt8]?

  /// Where a file says nothing believable, as browsers have it.
  private static let usualDensity = 96.0

  /// Gives each image of a file that has a page of its own to `body`, one after the other.
  public static func forEach(
    of input: JobInput, _ changes: ImageChanges, _ body: (PageImage) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    let pages = ImagePages(input)
    for index in 0..<(try pages.count()) {
      try pages.make(of: index) { (input, page) throws(JobFailure) in try body(PageImage(input, page, changes)) }
    }
  }

  /// A JPEG that is not changed is taken as it is.
  private init(_ input: JobInput, _ page: TIFFFile.Selection?, _ changes: ImageChanges) throws(JobFailure) {
    var kept = changes
    kept.resolution = nil
    if input.starts(with: [0xFF, 0xD8, 0xFF]), kept == ImageChanges() {
      let picture = try ImageSource(input, page: nil).picture
      self.init(picture, coding: PageImage.jpegCoding(picture), data: nil, changes, picture.orientation)
      return
    }
    let work = try ImageWork(input, page, to: .pdf, changes)
    let image = try work.prepared()
    // Sharp edges stay sharp; what was lossy once may be so again, and so may what was never more than light.
    if changes.quality != nil || ["jpeg", "heif", "webp", "raw"].contains(where: image.loader.hasPrefix) {
      let data = try ImageFile(.jpeg, quality: changes.quality).bytes(of: image)
      self.init(image, coding: PageImage.jpegCoding(image), data: data, changes, 1)
    } else {
      let rows = try PNGRows(ImageFile(.png, quality: nil).bytes(of: image))
      self.init(image, coding: rows.coding, data: rows.data, changes, 1)
    }
  }

  private init(
    _ picture: VipsPicture, coding: String, data: [UInt8]?, _ changes: ImageChanges, _ orientation: Int
  ) {
    // libvips says one pixel a millimetre where the file says nothing.
    let said = picture.density * 25.4
    let isTurned = orientation > 4
    form = PictureForm(
      width: isTurned ? picture.height : picture.width, height: isTurned ? picture.width : picture.height,
      density: changes.resolution.map(Double.init) ?? ((30...5000).contains(said) ? said : PageImage.usualDensity),
      orientation: orientation, coding: coding, components: picture.bands, profile: picture.profile)
    self.data = data
  }

  private static func jpegCoding(_ picture: VipsPicture) -> String {
    // Programs write CMYK upside down into JPEGs.
    let decode = picture.bands == 4 ? " /Decode [ 1 0 1 0 1 0 1 0 ]" : ""
    return "/Width \(picture.width) /Height \(picture.height) /BitsPerComponent 8 /Filter /DCTDecode\(decode)"
  }
}

/// The rows of a PNG file that is not interlaced, which a PDF codes in the same way.
private struct PNGRows {
  let coding: String
  var data: [UInt8] = []

  init(_ file: [UInt8]) {
    func number(_ offset: Int) -> Int { file[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) } }
    let width = number(16)
    let colours = file[25] == 0 ? 1 : 3
    coding = """
      /Width \(width) /Height \(number(20)) /BitsPerComponent \(file[24]) /Filter /FlateDecode \
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
