internal import Catalogue
internal import Pictures
internal import WorkerKit

/// An uncompressed surface of DirectDraw (DDS), whose channels are masks of a word. libavcodec supports only some
/// channel orders and mistakes others for these.
struct SurfaceFile {
  private let bytes: InputReader
  private let width: Int
  private let height: Int
  /// The size of a pixel, in bytes.
  private let step: Int
  private let start: Int
  /// The masks of gray, or of red, green and blue, followed by alpha if present.
  private let masks: [ChannelMask]

  /// The flags of a pixel format.
  private enum Flag {
    static let opacity = 1
    static let onlyOpacity = 2
    static let code = 4
    static let colours = 0x40
    static let gray = 0x20000
  }

  /// The masks and the bytes per pixel of DXGI formats, by number.
  private static let numbered: [Int: (masks: [Int], step: Int)] = {
    let (rgb, bgr, opacity) = ([0xFF, 0xFF00, 0xFF_0000], [0xFF_0000, 0xFF00, 0xFF], [0xFF00_0000])
    return [
      27: (rgb + opacity, 4), 28: (rgb + opacity, 4), 29: (rgb + opacity, 4), 61: ([0xFF], 1), 56: ([0xFFFF], 2),
      87: (bgr + opacity, 4), 90: (bgr + opacity, 4), 91: (bgr + opacity, 4), 88: (bgr, 4), 92: (bgr, 4), 93: (bgr, 4),
    ]
  }()

  /// Returns `nil` if the file is compressed, or of another format.
  init?(_ input: JobInput) throws(JobFailure) {
    guard input.starts(with: Format.dds.head) else { return nil }
    let bytes = InputReader(input)
    (height, width) = (bytes.word(12, 4), bytes.word(16, 4))
    let (flags, bits) = (bytes.word(80, 4), bytes.word(88, 4))
    let recorded = (0..<4).map { bytes.word(92 + 4 * $0, 4) }
    let found: (masks: [Int], step: Int, start: Int)
    if flags & Flag.code != 0 {
      guard bytes.word(84, 4) == Int(littleEndian: "DX10"), let format = Self.numbered[bytes.word(128, 4)] else {
        return nil
      }
      found = (format.masks, format.step, 148)
    } else {
      guard bits % 8 == 0, (1...4).contains(bits / 8) else { return nil }
      let opacity = flags & Flag.opacity != 0 && recorded[3] != 0 ? [recorded[3]] : []
      if flags & Flag.gray != 0, bits > 16 {
        // Pillow before version 10 recorded the number of bits for colours.
        found = opacity.isEmpty ? ([0xFF], 1, 128) : ([0xFF, 0xFF00], 2, 128)
      } else if flags & Flag.gray != 0 {
        found = ([recorded[0]] + opacity, bits / 8, 128)
      } else if flags & Flag.colours != 0 {
        found = (Array(recorded[..<3]) + opacity, bits / 8, 128)
      } else if flags & Flag.onlyOpacity != 0 {
        found = ([recorded[3]], bits / 8, 128)
      } else {
        return nil
      }
    }
    masks = found.masks.map { ChannelMask($0) }
    (step, start) = (found.step, found.start)
    guard width > 0, height > 0 else { throw JobFailure(.damaged, "has no pixels") }
    guard width <= PixelBlock.limit, height <= PixelBlock.limit / 8 / width else {
      throw JobFailure(.limit, "has \(width) × \(height) pixels, which is too much")
    }
    guard bytes.count - start >= width * height * step else {
      throw JobFailure(.damaged, "ends before its last pixel")
    }
    self.bytes = bytes
  }

  func pixels() throws(JobFailure) -> PixelBlock {
    let isByte = masks.allSatisfy(\.fitsByte)
    let top = isByte ? 255 : 65535
    var samples: [UInt8] = []
    samples.reserveCapacity(width * height * masks.count * (isByte ? 1 : 2))
    for place in 0..<width * height {
      let word = bytes.word(start + place * step, step)
      for mask in masks {
        let value = mask.value(of: word, upTo: top)
        samples.append(UInt8(truncatingIfNeeded: value))
        if !isByte { samples.append(UInt8(value >> 8)) }
      }
    }
    return try PixelBlock(
      width: width, height: height, PixelLayout(bands: masks.count, sample: isByte ? .byte : .word), samples)
  }
}

extension Int {
  /// Creates the number that four characters represent.
  fileprivate init(littleEndian text: String) {
    self = text.utf8.reversed().reduce(0) { $0 << 8 | Int($1) }
  }
}
