internal import CTiff
internal import CVips
internal import Catalogue
internal import WorkerKit

/// A TIFF page whose samples have 10, 12 or 14 bits each, one behind the other (TIFF 6.0, section 2), as microscopes and
/// scanners write them: neither libvips nor libtiff unpacks them.
struct PackedSamples {
  private let stream: InputStream
  private let page: TIFFFile.Page
  private let bits: Int

  /// In samples.
  private static let most = 1 << 27

  init(_ input: JobInput, _ page: TIFFFile.Selection, bits: Int) {
    stream = InputStream(input, page.patches)
    self.page = page.page
    self.bits = bits
  }

  /// The page with samples of 16 bits, and everything but the pixels taken from `header`.
  func picture(like header: VipsPicture) throws(JobFailure) -> VipsPicture {
    let (width, height, samples) = (header.width, header.height, header.bands)
    guard page.isPlainStrips, samples == page.samples else {
      throw JobFailure(.unsupported, "has samples of \(bits) bits in tiles or planes, which are not known here")
    }
    guard width <= Self.most / samples / height else {
      throw JobFailure(.limit, "has \(width) × \(height) pixels, which is too much for its kind")
    }
    defer { withExtendedLifetime(stream) {} }
    guard let file = unsafe stream.openedTIFF() else { throw JobFailure(.damaged, "cannot be decoded") }
    defer { unsafe TIFFClose(file) }
    let count = (width * samples * bits + 7) / 8
    guard unsafe TIFFScanlineSize(file) == count else { throw JobFailure(.damaged, "has rows of another length") }
    var row = [UInt8](repeating: 0, count: count)
    var words: [UInt16] = []
    words.reserveCapacity(width * height * samples)
    for y in 0..<height {
      guard unsafe TIFFReadScanline(file, &row, UInt32(y), 0) == 1 else {
        throw JobFailure(.damaged, "cannot be decoded", saying: Vips.takeError())
      }
      unpack(row, width * samples, to: &words)
    }
    let format = VIPS_FORMAT_USHORT
    let picture = try unsafe VipsPicture(
      copying: words.span.bytes, width: width, height: height, bands: samples, format: format)
    return try picture.inserted(over: header)
  }

  private func unpack(_ row: [UInt8], _ count: Int, to words: inout [UInt16]) {
    let most = 1 << bits - 1
    var (held, kept, at) = (0, 0, 0)
    for _ in 0..<count {
      while kept < bits {
        held = (held << 8 | Int(row[at])) & 0xFF_FFFF
        (kept, at) = (kept + 8, at + 1)
      }
      kept -= bits
      let value = ((held >> kept & most) * 65535 + most / 2) / most
      words.append(UInt16(page.isInverted ? 65535 - value : value))
    }
  }
}
