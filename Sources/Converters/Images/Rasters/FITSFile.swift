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

extension FITSFile {
  /// Returns the file with only the first plane if it has more than two axes that are not those of colours, which
  /// libavcodec does not support. Returns `nil` for any other file.
  static func firstPlane(of input: JobInput) -> [UInt8]? {
    let (card, most) = (80, 36 * 256)
    var axesPlace: Int?
    var numbers: [String: Int] = [:]
    for index in 0..<min(most, input.count / card) {
      let start = index * card
      let text = unsafe String(decoding: input.bytes[start..<start + card], as: UTF8.self)
      let name = text.prefix(8).trimmed
      if name == "END" {
        guard let axesPlace, numbers["NAXIS", default: 0] > 2 else { return nil }
        let header = (start + card + block - 1) / block * block
        let size = abs(numbers["BITPIX", default: 8]) / 8
        let (width, height) = (numbers["NAXIS1", default: 0], numbers["NAXIS2", default: 0])
        guard (1...8).contains(size), width > 0, height > 0, height <= PixelBlock.limit,
          width <= PixelBlock.limit / height, header <= input.count - width * height * size
        else { return nil }
        var file = unsafe Array(input.bytes[..<(header + width * height * size)])
        let two = Array(("NAXIS   =" + String(repeating: " ", count: 20) + "2").utf8)
        let blanks = [UInt8](repeating: 0x20, count: card - two.count)
        file.replaceSubrange(axesPlace..<axesPlace + card, with: two + blanks)
        return file + [UInt8](repeating: 0, count: (block - file.count % block) % block)
      }
      guard text.dropFirst(8).hasPrefix("=") else { continue }
      let value = text.dropFirst(9).prefix { $0 != "/" }.trimmed
      // Three colour planes.
      if name == "CTYPE3", value.hasPrefix("'RGB") { return nil }
      guard name == "NAXIS" || name == "BITPIX" || name == "NAXIS1" || name == "NAXIS2" else { continue }
      if name == "NAXIS" { axesPlace = start }
      numbers[name] = Int(value)
    }
    return nil
  }
}

extension Substring {
  fileprivate var trimmed: String { String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
}
