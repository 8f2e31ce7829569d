internal import Catalogue
internal import Pictures
internal import WorkerKit

/// Netpbm's PAM with 1 to 4 numbers per pixel, each up to any MAXVAL (pam(5)). libavcodec does not scale all of them.
struct ArbitraryMap {
  private let bytes: InputReader
  private let width: Int
  private let height: Int
  private let bands: Int
  private let most: Int
  private let start: Int

  private static let longestHeader = 4096

  /// Returns `nil` if the file is of another format.
  init?(_ input: JobInput) throws(JobFailure) {
    guard input.starts(with: Format.pam.head) else { return nil }
    let head = unsafe Array(input.bytes.prefix(Self.longestHeader))
    var numbers: [String: Int] = [:]
    var (place, start): (Int, Int?) = (0, nil)
    while start == nil, let end = head[place...].firstIndex(of: 0x0A) {
      let words = String(decoding: head[place..<end], as: UTF8.self).split { $0 == " " || $0 == "\t" || $0 == "\r" }
      if words.first == "ENDHDR" { start = end + 1 }
      if words.count == 2, let number = Int(words[1]) { numbers[String(words[0])] = number }
      place = end + 1
    }
    (width, height) = (numbers["WIDTH", default: 0], numbers["HEIGHT", default: 0])
    (bands, most) = (numbers["DEPTH", default: 0], numbers["MAXVAL", default: 0])
    guard let start, width > 0, height > 0, bands > 0, (1...65535).contains(most) else {
      throw JobFailure(.damaged, "has an invalid header")
    }
    guard bands <= 4 else { throw JobFailure(.unsupported, "has \(bands) numbers per pixel") }
    guard width <= PixelBlock.limit, height <= PixelBlock.limit / 8 / width else {
      throw JobFailure(.limit, "has \(width) × \(height) pixels, which is too much")
    }
    guard input.count - start >= width * height * bands * (most > 255 ? 2 : 1) else {
      throw JobFailure(.damaged, "ends before its last pixel")
    }
    (bytes, self.start) = (InputReader(input, isBigEndian: true), start)
  }

  func pixels() throws(JobFailure) -> PixelBlock {
    let (count, isDeep) = (width * height * bands, most > 255)
    let (size, top) = isDeep ? (2, 65535) : (1, 255)
    var samples: [UInt8] = []
    samples.reserveCapacity(count * size)
    for index in 0..<count {
      let value = (min(most, bytes.word(start + index * size, size)) * top + most / 2) / most
      samples.append(UInt8(truncatingIfNeeded: value))
      if isDeep { samples.append(UInt8(value >> 8)) }
    }
    let layout = PixelLayout(bands: bands, sample: isDeep ? .word : .byte)
    return try PixelBlock(width: width, height: height, layout, samples)
  }
}
