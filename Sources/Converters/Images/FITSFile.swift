internal import Bytes
internal import Catalogue
internal import Pictures
internal import WorkerKit

/// A FITS file (FITS Standard 4.0): cards of 80 characters, then gray pixels, rows from the bottom up.
enum FITSFile {
  /// The size that headers and data are padded to a multiple of, in bytes.
  static let block = 2880

  /// - Parameter pixels: pixels of one band.
  static func bytes(of pixels: PixelBlock) -> [UInt8] {
    let isWide = pixels.layout.sample == .word
    let (width, height) = (pixels.width, pixels.height)
    var cards = [("SIMPLE", "T"), ("BITPIX", isWide ? "16" : "8"), ("NAXIS", "2")]
    cards += [("NAXIS1", "\(width)"), ("NAXIS2", "\(height)")]
    // Words are signed in FITS.
    if isWide { cards += [("BZERO", "32768"), ("BSCALE", "1")] }
    // The values of black and white. Readers would otherwise derive them from the picture.
    cards += [("DATAMIN", "0"), ("DATAMAX", isWide ? "65535" : "255")]
    var file = cards.flatMap { card(filled($0.0, to: 8) + "= " + filled($0.1, to: 20, isNumber: true)) } + card("END")
    file += Array(repeating: 0x20, count: padding(file.count))
    file.reserveCapacity(file.count + pixels.bytes.count + block)
    for y in (0..<height).reversed() {
      for x in 0..<width {
        let at = (y * width + x) * pixels.layout.pixel
        if isWide { file.append(pixels.bytes[at + 1] ^ 0x80) }
        file.append(pixels.bytes[at])
      }
    }
    return file + Array(repeating: 0, count: padding(file.count))
  }

  private static func padding(_ count: Int) -> Int { (block - count % block) % block }

  private static func filled(_ text: String, to width: Int, isNumber: Bool = false) -> String {
    let space = String(repeating: " ", count: width - text.utf8.count)
    return isNumber ? space + text : text + space
  }

  private static func card(_ text: String) -> [UInt8] { Array(filled(text, to: 80).utf8) }
}
