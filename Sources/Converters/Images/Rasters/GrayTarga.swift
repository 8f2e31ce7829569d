internal import Catalogue
internal import Pictures
internal import WorkerKit

/// A gray TGA picture (Truevision TGA 2.0). libavcodec decodes gray with alpha as colours.
struct GrayTarga {
  private let bytes: InputReader
  private let width: Int
  private let height: Int
  private let depth: Int
  private let isPacked: Bool
  private let isTopDown: Bool
  private let isRightToLeft: Bool
  private let start: Int

  /// Returns `nil` if the header is not that of a gray picture.
  init?(_ input: JobInput) throws(JobFailure) {
    let bytes = InputReader(input)
    let kind = bytes.byte(2)
    guard bytes.count > 18, bytes.byte(1) <= 1, kind == 3 || kind == 11 else { return nil }
    (width, height, depth) = (bytes.word(12, 2), bytes.word(14, 2), bytes.word(16, 1))
    guard [1, 8, 16].contains(depth), depth > 1 || kind == 3, width > 0, height > 0 else { return nil }
    isPacked = kind == 11
    isTopDown = bytes.byte(17) & 0x20 != 0
    isRightToLeft = bytes.byte(17) & 0x10 != 0
    let colours = bytes.byte(1) == 1 ? bytes.word(5, 2) * ((bytes.word(7, 1) + 7) / 8) : 0
    start = 18 + bytes.word(0, 1) + colours
    guard width <= PixelBlock.limit / 2 / height else {
      throw JobFailure(.limit, "has \(width) × \(height) pixels, which is too much")
    }
    self.bytes = bytes
  }

  private var bands: Int { depth == 16 ? 2 : 1 }
  private static let tooShort = JobFailure(.damaged, "ends before its last pixel")

  func pixels() throws(JobFailure) -> PixelBlock {
    let stored = depth == 1 ? try bits() : isPacked ? try unpacked() : try plain()
    var image: [UInt8] = []
    image.reserveCapacity(stored.count)
    for y in 0..<height {
      let row = (isTopDown ? y : height - 1 - y) * width
      for x in 0..<width {
        let at = (row + (isRightToLeft ? width - 1 - x : x)) * bands
        image.append(stored[at])
        if bands == 2 { image.append(stored[at + 1]) }
      }
    }
    return try PixelBlock(width: width, height: height, PixelLayout(bands: bands, sample: .byte), image)
  }

  private func plain() throws(JobFailure) -> [UInt8] {
    let count = width * height * bands
    guard bytes.count - start >= count else { throw Self.tooShort }
    return (start..<start + count).map(bytes.byte)
  }

  private func bits() throws(JobFailure) -> [UInt8] {
    let row = (width + 7) / 8
    guard bytes.count - start >= row * height else { throw Self.tooShort }
    return (0..<width * height).map { place in
      let (y, x) = (place / width, place % width)
      return bytes.byte(start + y * row + x / 8) >> (7 - UInt8(x % 8)) & 1 == 1 ? 255 : 0
    }
  }

  /// Decodes run-length encoding. A byte below 128 precedes that number of pixels plus 1; any other precedes a pixel to
  /// repeat, and is the count plus 127.
  private func unpacked() throws(JobFailure) -> [UInt8] {
    let count = width * height * bands
    var pixels: [UInt8] = []
    pixels.reserveCapacity(count)
    var at = start
    while pixels.count < count {
      guard at < bytes.count else { throw Self.tooShort }
      let lead = Int(bytes.byte(at))
      let number = min(lead % 128 + 1, (count - pixels.count) / bands)
      let size = (lead < 128 ? number : 1) * bands
      guard bytes.count - at - 1 >= size else { throw Self.tooShort }
      for index in 0..<number * bands { pixels.append(bytes.byte(at + 1 + index % size)) }
      at += 1 + size
    }
    return pixels
  }
}
