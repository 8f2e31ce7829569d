internal import CVips
internal import Catalogue
internal import WorkerKit

/// The header of a netpbm file, and the pixels of a plain one: pbm(5), pgm(5), ppm(5).
struct AnymapFile {
  private let bytes: InputReader
  private let kind: Int
  private let isPlain: Bool
  private let width: Int
  private let height: Int
  private let most: Int
  /// The offset after the header.
  private let start: Int

  private static let mostPixels = 1 << 26
  private var bands: Int { kind % 3 == 0 ? 3 : 1 }

  /// Returns `nil` if libvips reads the pixels correctly: bytes or pairs of bytes that use their whole range.
  init?(_ input: JobInput) throws(JobFailure) {
    let bytes = InputReader(input)
    let kind = Int(bytes.byte(1)) - 0x30
    guard bytes.byte(0) == 0x50, (1...6).contains(kind) else { return nil }
    var at = 2
    var numbers: [Int] = []
    while numbers.count < (kind % 3 == 1 ? 2 : 3) {
      guard let number = bytes.number(at: &at) else { return nil }
      numbers.append(number)
    }
    let (width, height, most) = (numbers[0], numbers[1], numbers.count == 3 ? numbers[2] : 1)
    let isPlain = kind < 4
    // libvips reads missing bits beyond the end of the file.
    guard kind != 4 || (width + 7) / 8 <= (input.count - at) / max(1, height) else {
      throw JobFailure(.damaged, "ends before its last pixel")
    }
    guard isPlain || (numbers.count == 3 && most != 255 && most != 65535) else { return nil }
    guard width > 0, height > 0, (1...65535).contains(most) else {
      throw JobFailure(.damaged, "has an invalid header")
    }
    guard !isPlain || width <= AnymapFile.mostPixels / height else {
      throw JobFailure(.limit, "has \(width) × \(height) pixels, which is too much")
    }
    (self.bytes, self.kind, self.isPlain, start) = (bytes, kind, isPlain, at)
    (self.width, self.height, self.most) = (width, height, most)
  }

  private var isDeep: Bool { most > 255 }

  /// - Parameter loaded: the image as read by libvips.
  func picture(as loaded: VipsPicture) throws(JobFailure) -> VipsPicture {
    let picture = isPlain ? try readWords() : loaded
    let top = isDeep ? 65535 : 255
    let space = (isDeep ? ["grey16", "rgb16"] : ["b-w", "srgb"])[bands == 3 ? 1 : 0]
    guard most != top else { return try picture.applying("copy", ["interpretation": space]) }
    // Half a step, to round instead of truncating.
    return
      try picture
      .applying("linear", ["a": "\(Double(top) / Double(most))", "b": "0.5"])
      .applying("cast", ["format": isDeep ? "ushort" : "uchar"])
      .applying("copy", ["interpretation": space])
  }

  private func readWords() throws(JobFailure) -> VipsPicture {
    let count = bands * width * height
    var words: [UInt16] = []
    words.reserveCapacity(count)
    var at = start
    while words.count < count {
      guard let number = kind == 1 ? bytes.bit(at: &at) : bytes.number(at: &at) else {
        throw JobFailure(.damaged, "ends before its last pixel")
      }
      words.append(UInt16(min(number, most)))
    }
    return try unsafe VipsPicture(
      copying: words.span.bytes, width: width, height: height, bands: bands, format: VIPS_FORMAT_USHORT)
  }
}

extension InputReader {
  /// Returns the offset of the next word, after white space and comments.
  private func word(from place: Int) -> Int {
    var at = place
    while at < count {
      switch byte(at) {
      case 0x23: while at < count, byte(at) != 0x0A, byte(at) != 0x0D { at += 1 }
      case 0x20, 0x09...0x0D: at += 1
      default: return at
      }
    }
    return at
  }

  /// Returns the next number and advances `at` past it. Returns `nil` if something else follows.
  fileprivate func number(at: inout Int) -> Int? {
    at = word(from: at)
    let first = at
    var number = 0
    while at < count, (0x30...0x39).contains(byte(at)), at - first < 10 {
      number = 10 * number + Int(byte(at)) - 0x30
      at += 1
    }
    return at > first ? number : nil
  }

  /// Returns the next pixel of a plain bitmap, 0 for black. Pixels need no separator.
  fileprivate func bit(at: inout Int) -> Int? {
    at = word(from: at)
    guard byte(at) == 0x30 || byte(at) == 0x31, at < count else { return nil }
    defer { at += 1 }
    return byte(at) == 0x30 ? 1 : 0
  }
}
