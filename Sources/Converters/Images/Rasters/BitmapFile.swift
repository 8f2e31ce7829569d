internal import Catalogue
internal import WorkerKit

/// A Windows bitmap, which none of the permitted loaders reads. It has a file header, one of several image headers, a
/// palette, and rows from the bottom up. A device-independent bitmap (`.dib`) may lack the file header.
struct BitmapFile {
  private let bytes: InputReader
  private let width: Int
  private let height: Int
  private let isTopDown: Bool
  private let depth: Int
  private let compression: Int
  private let palette: [(red: UInt8, green: UInt8, blue: UInt8)]
  private let pixels: Int
  /// The masks of red, green, blue and, if present, alpha.
  private let masks: [ChannelMask]

  private static let mostPixels = 1 << 27

  init(_ input: JobInput) throws(JobFailure) {
    let bytes = InputReader(input)
    let isBare = !input.starts(with: [0x42, 0x4D])
    let info = isBare ? 0 : 14
    let header = bytes.word(info, 4)
    let isOld = header == 12
    width = isOld ? bytes.word(info + 4, 2) : bytes.signed(info + 4)
    let rows = isOld ? bytes.word(info + 6, 2) : bytes.signed(info + 8)
    height = abs(rows)
    isTopDown = rows < 0
    depth = bytes.word(info + (isOld ? 10 : 14), 2)
    compression = isOld ? 0 : bytes.word(info + 16, 4)
    let size = isOld ? 3 : 4
    if isBare {
      let colours = isOld ? 0 : min(256, bytes.word(32, 4))
      let masks = header == 40 ? [3: 12, 6: 16][compression, default: 0] : 0
      pixels = header + masks + size * (depth > 8 || colours > 0 ? colours : 1 << depth)
    } else {
      pixels = bytes.word(10, 4)
    }
    guard isOld || header >= 40, width > 0, height > 0, pixels < input.count else {
      throw JobFailure(.damaged, "is a bitmap with an invalid header")
    }
    guard width <= BitmapFile.mostPixels / height else {
      throw JobFailure(.limit, "has \(width) × \(height) pixels, which is too much")
    }
    let isRunLength = (compression == 1 && depth == 8) || (compression == 2 && depth == 4)
    let hasMasks = (compression == 3 || compression == 6) && (depth == 16 || depth == 32)
    guard [1, 4, 8, 16, 24, 32].contains(depth), compression == 0 || isRunLength || hasMasks else {
      throw JobFailure(.unsupported, "is a bitmap of an unknown kind")
    }
    if hasMasks {
      // Headers of this length or longer have a fourth mask; 0 means that all pixels are opaque.
      let hasOpacity = header >= 56 && bytes.word(info + 52, 4) != 0
      masks = (0..<(hasOpacity ? 4 : 3)).map { ChannelMask(bytes.word(info + 40 + 4 * $0, 4)) }
    } else {
      masks = (depth == 16 ? [0x7C00, 0x3E0, 0x1F] : [0xFF0000, 0xFF00, 0xFF]).map { ChannelMask($0) }
    }
    let start = info + header
    let count = depth > 8 ? 0 : min(1 << depth, max(0, pixels - start) / size)
    palette = (0..<count).map { index in
      let at = start + size * index
      return (bytes.byte(at + 2), bytes.byte(at + 1), bytes.byte(at))
    }
    self.bytes = bytes
    let stride = (width * depth + 31) / 32 * 4
    guard isRunLength || input.count - pixels >= stride * height else {
      throw JobFailure(.damaged, "ends before its last row")
    }
  }

  func picture() throws(JobFailure) -> VipsPicture {
    var image = [UInt8](repeating: 0, count: masks.count * width * height)
    if compression == 1 || compression == 2 { readRuns(&image) } else { readRows(&image) }
    return try unsafe VipsPicture(copying: image.span.bytes, width: width, height: height, bands: masks.count)
  }

  private func place(_ x: Int, _ row: Int) -> Int {
    masks.count * ((isTopDown ? row : height - 1 - row) * width + x)
  }

  private func set(_ x: Int, _ row: Int, _ red: UInt8, _ green: UInt8, _ blue: UInt8, in image: inout [UInt8]) {
    let at = place(x, row)
    image[at] = red
    image[at + 1] = green
    image[at + 2] = blue
  }

  private func set(_ x: Int, _ row: Int, index: Int, in image: inout [UInt8]) {
    guard x < width, row < height, index < palette.count else { return }
    set(x, row, palette[index].red, palette[index].green, palette[index].blue, in: &image)
  }

  private func readRows(_ image: inout [UInt8]) {
    let stride = (width * depth + 31) / 32 * 4
    for row in 0..<height {
      let start = pixels + row * stride
      for x in 0..<width {
        switch depth {
        case 24:
          let at = start + 3 * x
          set(x, row, bytes.byte(at + 2), bytes.byte(at + 1), bytes.byte(at), in: &image)
        case 16, 32:
          let word = bytes.word(start + depth / 8 * x, depth / 8)
          let at = place(x, row)
          for (band, mask) in masks.enumerated() { image[at + band] = UInt8(mask.value(of: word)) }
        default:
          let bit = x * depth
          let index = Int(bytes.byte(start + bit / 8)) >> (8 - depth - bit % 8) & (1 << depth - 1)
          set(x, row, index: index, in: &image)
        }
      }
    }
  }

  /// Decodes run-length encoding: runs of one pixel, literal pixels, jumps and ends of rows. Skipped pixels stay black.
  private func readRuns(_ image: inout [UInt8]) {
    var at = pixels
    var x = 0
    var row = 0
    /// Returns a pixel in a literal run: a byte, or half of one.
    func index(_ start: Int, _ place: Int) -> Int {
      depth == 8 ? Int(bytes.byte(start + place)) : Int(bytes.byte(start + place / 2)) >> (place % 2 == 0 ? 4 : 0) & 15
    }
    while at + 1 < bytes.count, row < height {
      let first = Int(bytes.byte(at))
      let second = Int(bytes.byte(at + 1))
      at += 2
      switch (first, second) {
      case (0, 0): (x, row) = (0, row + 1)
      case (0, 1): return
      case (0, 2):
        x += Int(bytes.byte(at))
        row += Int(bytes.byte(at + 1))
        at += 2
      case (0, _):
        for place in 0..<second { set(x + place, row, index: index(at, place), in: &image) }
        x += second
        at += ((depth == 8 ? second : (second + 1) / 2) + 1) / 2 * 2
      default:
        let pair = depth == 8 ? [second] : [second >> 4, second & 15]
        for place in 0..<first { set(x + place, row, index: pair[place % pair.count], in: &image) }
        x += first
      }
    }
  }
}
