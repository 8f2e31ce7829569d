internal import CTiff
internal import CVips
internal import Catalogue
internal import WorkerKit

/// A TIFF page whose layout of samples libvips does not read (TIFF 6.0, sections 2 and 15). It has fewer than 8 bits
/// per sample in several channels, or packed samples of 10, 12 or 14 bits, as microscopes and scanners write them.
/// libtiff does not unpack either of these. Or it has tiles of one channel each.
struct TIFFSamples {
  private let stream: InputStream
  private let page: TIFFFile.Page
  private let bits: Int

  /// The maximum number of samples.
  private static let most = 1 << 27
  /// The maximum side of a tile, in pixels.
  private static let longestSide = 1 << 14

  init(_ input: JobInput, _ page: TIFFFile.Selection, bits: Int) {
    stream = InputStream(input, page.patches)
    self.page = page.page
    self.bits = bits
  }

  /// The size of an unpacked sample, in bytes.
  private var size: Int { bits % 8 == 0 ? bits / 8 : 2 }

  /// Returns the page with samples of whole bytes, and with everything except the pixels taken from `header`.
  func picture(like header: VipsPicture) throws(JobFailure) -> VipsPicture {
    let (width, height, samples) = (header.width, header.height, header.bands)
    guard samples == page.samples else { throw JobFailure(.damaged, "has \(samples) channels or \(page.samples)") }
    guard width <= Self.most / samples / height else {
      throw JobFailure(.limit, "has \(width) × \(height) pixels, which is too much for its kind")
    }
    let isSameSize = Int(vips_format_sizeof(header.format)) == size
    guard isSameSize else { throw JobFailure(.damaged, "has samples of a different size than recorded") }
    defer { withExtendedLifetime(stream) {} }
    guard let file = unsafe stream.openedTIFF() else { throw JobFailure(.damaged, "cannot be decoded") }
    defer { unsafe TIFFClose(file) }
    var pixels = [UInt8](repeating: 0, count: width * height * samples * size)
    for plane in 0..<(page.isPlanar ? samples : 1) {
      if page.isTiled {
        try unsafe readTiles(of: file, plane, width, height, to: &pixels)
      } else {
        try unsafe readRows(of: file, plane, width, height, to: &pixels)
      }
    }
    let picture = try unsafe VipsPicture(
      copying: pixels.span.bytes, width: width, height: height, bands: samples, format: header.format)
    return try (page.isPremultiplied ? picture.unmultiplied() : picture).inserted(over: header)
  }

  /// The number of adjacent samples.
  private var together: Int { page.isPlanar ? 1 : page.samples }

  private func readRows(
    of file: OpaquePointer, _ plane: Int, _ width: Int, _ height: Int, to pixels: inout [UInt8]
  ) throws(JobFailure) {
    let count = (width * together * bits + 7) / 8
    guard unsafe TIFFScanlineSize(file) == count else { throw JobFailure(.damaged, "has rows of another length") }
    var row = [UInt8](repeating: 0, count: count)
    for y in 0..<height {
      guard unsafe TIFFReadScanline(file, &row, UInt32(y), UInt16(plane)) == 1 else { throw Self.failure }
      unpack(row[...], width, to: &pixels, at: y * width, plane)
    }
  }

  private func readTiles(
    of file: OpaquePointer, _ plane: Int, _ width: Int, _ height: Int, to pixels: inout [UInt8]
  ) throws(JobFailure) {
    let (tileWidth, tileHeight) = (page.tileWidth, page.tileHeight)
    guard (1...Self.longestSide).contains(tileWidth), (1...Self.longestSide).contains(tileHeight) else {
      throw JobFailure(.limit, "has tiles of \(tileWidth) × \(tileHeight) pixels, which is too much")
    }
    let step = (tileWidth * together * bits + 7) / 8
    guard unsafe TIFFTileSize(file) == step * tileHeight else {
      throw JobFailure(.damaged, "has tiles of another size")
    }
    var tile = [UInt8](repeating: 0, count: step * tileHeight)
    for top in stride(from: 0, to: height, by: tileHeight) {
      for left in stride(from: 0, to: width, by: tileWidth) {
        let number = unsafe TIFFComputeTile(file, UInt32(left), UInt32(top), 0, UInt16(plane))
        let count = unsafe TIFFReadEncodedTile(file, number, &tile, Int64(tile.count))
        guard count == tile.count else { throw Self.failure }
        for y in 0..<min(tileHeight, height - top) {
          let row = tile[y * step..<(y + 1) * step]
          unpack(row, min(tileWidth, width - left), to: &pixels, at: (top + y) * width + left, plane)
        }
      }
    }
  }

  private static var failure: JobFailure { JobFailure(.damaged, "cannot be decoded", saying: Vips.takeError()) }

  /// Stores the unpacked samples of `count` pixels of a row. `place` is the offset of the first one, in pixels.
  private func unpack(_ row: ArraySlice<UInt8>, _ count: Int, to pixels: inout [UInt8], at place: Int, _ plane: Int) {
    let together = together
    var (held, kept, at) = (0, 0, row.startIndex)
    for pixel in 0..<count {
      let start = ((place + pixel) * page.samples + (page.isPlanar ? plane : 0)) * size
      if bits % 8 == 0 {
        for offset in 0..<size * together { pixels[start + offset] = row[at + offset] }
        at += size * together
        continue
      }
      for sample in 0..<together {
        while kept < bits {
          held = (held << 8 | Int(row[at])) & 0xFF_FFFF
          (kept, at) = (kept + 8, at + 1)
        }
        kept -= bits
        let most = 1 << bits - 1
        let value = ((held >> kept & most) * 65535 + most / 2) / most
        let isInverted = page.isInverted && (page.isPlanar ? plane : sample) == 0
        let word = UInt16(isInverted ? 65535 - value : value)
        // This machine is little-endian.
        pixels[start + 2 * sample] = UInt8(word & 255)
        pixels[start + 2 * sample + 1] = UInt8(word >> 8)
      }
    }
  }
}

extension VipsPicture {
  /// Returns the picture with colours that are not premultiplied by alpha, in the same sample format.
  fileprivate func unmultiplied() throws(JobFailure) -> VipsPicture {
    let (most, name) = isByte ? ("255", "uchar") : format == VIPS_FORMAT_USHORT ? ("65535", "ushort") : ("1", "float")
    return try applying("unpremultiply", ["max-alpha": most]).applying("cast", ["format": name])
  }
}
