internal import Catalogue
internal import Pictures
internal import WorkerKit

/// A picture in the Quite OK Image Format, version 1.0.
struct QOIFile {
  private let bytes: InputReader
  private let width: Int
  private let height: Int
  private let bands: Int

  /// The bytes after the last pixel.
  private static let end: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 1]
  private static let header = 14

  /// Returns `nil` if the file is of another format.
  init?(_ input: JobInput) throws(JobFailure) {
    guard input.starts(with: Format.qoi.head) else { return nil }
    let numbers = InputReader(input, isBigEndian: true)
    (width, height, bands) = (numbers.word(4, 4), numbers.word(8, 4), numbers.word(12, 1))
    guard bands == 3 || bands == 4, width > 0, height > 0 else {
      throw JobFailure(.damaged, "has an invalid header")
    }
    guard width <= PixelBlock.limit, height <= PixelBlock.limit / bands / width else {
      throw JobFailure(.limit, "has \(width) × \(height) pixels, which is too much")
    }
    guard unsafe input.bytes.suffix(8).elementsEqual(Self.end) else {
      throw JobFailure(.damaged, "ends before its last pixel")
    }
    bytes = numbers
  }

  private struct Pixel {
    var (red, green, blue, opacity): (UInt8, UInt8, UInt8, UInt8)

    /// The pixel's index among those seen before.
    var place: Int { (Int(red) * 3 + Int(green) * 5 + Int(blue) * 7 + Int(opacity) * 11) % 64 }

    /// Adds differences of colour, which wrap around.
    mutating func add(_ red: Int, _ green: Int, _ blue: Int) {
      self.red &+= UInt8(truncatingIfNeeded: red)
      self.green &+= UInt8(truncatingIfNeeded: green)
      self.blue &+= UInt8(truncatingIfNeeded: blue)
    }
  }

  func pixels() throws(JobFailure) -> PixelBlock {
    let count = width * height
    var image: [UInt8] = []
    image.reserveCapacity(count * bands)
    var seen = Array(repeating: Pixel(red: 0, green: 0, blue: 0, opacity: 0), count: 64)
    var pixel = Pixel(red: 0, green: 0, blue: 0, opacity: 255)
    var at = Self.header
    let end = bytes.count - Self.end.count
    while image.count < count * bands {
      guard at < end else { throw JobFailure(.damaged, "ends before its last pixel") }
      let code = bytes.byte(at)
      let low = Int(code & 0x3F)
      var run = 1
      at += 1
      switch code {
      case 0xFE, 0xFF:
        (pixel.red, pixel.green, pixel.blue) = (bytes.byte(at), bytes.byte(at + 1), bytes.byte(at + 2))
        if code == 0xFF { pixel.opacity = bytes.byte(at + 3) }
        at += code == 0xFF ? 4 : 3
      case 0..<0x40: pixel = seen[low]
      case 0x40..<0x80: pixel.add(low >> 4 - 2, low >> 2 & 3 - 2, low & 3 - 2)
      case 0x80..<0xC0:
        let green = low - 32
        let others = Int(bytes.byte(at))
        pixel.add(green + others >> 4 - 8, green, green + others & 15 - 8)
        at += 1
      default: run = min(low + 1, count - image.count / bands)
      }
      seen[pixel.place] = pixel
      for _ in 0..<run {
        image.append(pixel.red)
        image.append(pixel.green)
        image.append(pixel.blue)
        if bands == 4 { image.append(pixel.opacity) }
      }
    }
    return try PixelBlock(width: width, height: height, PixelLayout(bands: bands, sample: .byte), image)
  }
}
