/// The frames that LAME makes of so many samples, with as many bits a second for each, and the frame in front of them that
/// tells players how many samples at either end are none of the source's.
struct MP3Frames {
  let rate: Int
  let channels: Int
  /// Samples of the source.
  let samples: Int64
  /// Thousands of bits a second.
  let kilobits: Int

  /// What LAME puts before the first sample.
  private static let delay: Int64 = 576
  /// What a decoder adds.
  static let decoderDelay: Int64 = 529

  private var isFirstVersion: Bool { rate >= 32000 }
  /// Samples in a frame.
  var step: Int { isFirstVersion ? 1152 : 576 }

  /// `kilobits`: the nearest possible is taken.
  init?(rate: Int, channels: Int, samples: Int64, kilobits: Int) {
    guard Self.rates.contains(rate), (1...2).contains(channels), samples > 0 else { return nil }
    self.rate = rate
    self.channels = channels
    self.samples = samples
    self.kilobits = Self.nearest(to: kilobits, at: rate)
  }

  private static let rates = [44100, 48000, 32000, 22050, 24000, 16000, 11025, 12000, 8000]
  private static let firstRates = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
  private static let secondRates = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]

  /// Of the bit rates that there are at a sample rate.
  static func nearest(to kilobits: Int, at rate: Int) -> Int {
    possible(at: rate).min { abs($0 - kilobits) < abs($1 - kilobits) } ?? kilobits
  }

  private static func possible(at rate: Int) -> [Int] {
    rate >= 32000 ? firstRates : rate >= 16000 ? secondRates : Array(secondRates.prefix(8))
  }

  // MARK: How many there are, and how long they are

  private var end: Int64 {
    let step = Int64(step)
    let rest = step - (Self.delay + samples) % step
    return rest < 576 ? rest + step : rest
  }

  var count: Int64 { (Self.delay + samples + end) / Int64(step) }
  /// How many samples of the last frames are none of the source's.
  var padding: Int64 { end }

  /// Whole bytes of a frame; one more now and then keeps the rate.
  private var size: Int { step / 8 * kilobits * 1000 / rate }
  private var rest: Int { step / 8 * kilobits * 1000 % rate }

  func forEachSize<Failure: Error>(_ body: (Int) throws(Failure) -> Void) throws(Failure) {
    var lag = rest
    for _ in 0..<count {
      lag -= rest
      let isLonger = lag < 0
      if isLonger { lag += rate }
      try body(isLonger ? size + 1 : size)
    }
  }

  /// Of all frames but the first one, in bytes.
  var totalSize: Int64 {
    var sum: Int64 = 0
    forEachSize { sum += Int64($0) }
    return sum
  }

  // MARK: The first frame

  /// Of Xing's and LAME's making: what has no sound, and says how long the sound is.
  var information: [UInt8] {
    let side = isFirstVersion ? (channels == 2 ? 32 : 17) : (channels == 2 ? 17 : 9)
    let needed = 4 + side + 120 + 36
    let table = Self.possible(at: rate)
    let place = table.firstIndex { step / 8 * $0 * 1000 / rate >= needed } ?? table.count - 1
    let length = step / 8 * table[place] * 1000 / rate
    let version: UInt8 = isFirstVersion ? 3 : rate >= 16000 ? 2 : 0
    let family = [[44100, 22050, 11025], [48000, 24000, 12000], [32000, 16000, 8000]]
    let rateCode = UInt8(family.firstIndex { $0.contains(rate) } ?? 0)
    var bytes: [UInt8] = [
      0xff, 0xe0 | version << 3 | 1 << 1 | 1, UInt8(place + 1) << 4 | rateCode << 2, channels == 2 ? 0x40 : 0xc0,
    ]
    bytes += [UInt8](repeating: 0, count: side)
    let total = totalSize + Int64(length)
    bytes += Array("Info".utf8) + [0, 0, 0, 15] + Self.word(count) + Self.word(total)
    bytes += (0..<100).map { UInt8($0 * 256 / 100) } + [0, 0, 0, 0]
    bytes += Array("LAME".utf8) + [UInt8](repeating: 0x20, count: 5)
    // The way of coding, no lowpass and no gain told, then the bit rate.
    bytes += [0x01, 0] + [UInt8](repeating: 0, count: 8) + [0, UInt8(min(255, kilobits))]
    let (first, last) = (Int(Self.delay), Int(min(4095, end)))
    bytes += [UInt8(first >> 4), UInt8((first & 15) << 4 | last >> 8), UInt8(last & 255)]
    bytes += [0, 0, 0, 0] + Self.word(total) + [0, 0]
    let check = Self.checksum(bytes)
    bytes += [UInt8(check >> 8), UInt8(check & 255)]
    return bytes + [UInt8](repeating: 0, count: max(0, length - bytes.count))
  }

  private static func word(_ value: Int64) -> [UInt8] {
    let value = UInt32(clamping: value)
    return [UInt8(value >> 24), UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
  }

  /// CRC-16 of ARC.
  private static func checksum(_ bytes: [UInt8]) -> UInt16 {
    bytes.reduce(0) { sum, byte in
      (0..<8).reduce(sum ^ UInt16(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xa001 : value >> 1 }
    }
  }
}
