/// The information frame of an MP3, which is silent and records the length. It is Xing's, with LAME's numbers of
/// samples at either end that do not belong to the source.
struct MP3Information {
  let rate: Int
  let channels: Int
  /// The sizes of all other frames, in bytes.
  let sizes: [Int]
  /// The numbers of samples before the first and after the last, without those that a decoder adds. `delay` is `nil` if
  /// they are unknown.
  let delay: Int?
  let padding: Int

  /// The maximum of `delay` and `padding`.
  static let mostSamples = 4095

  private static let firstRates = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320]
  private static let secondRates = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160]

  /// Returns the bit rates at a sample rate, in kbit/s.
  static func bitRates(at rate: Int) -> [Int] {
    rate >= 32000 ? firstRates : rate >= 16000 ? secondRates : Array(secondRates.prefix(8))
  }

  init(rate: Int, channels: Int, sizes: [Int], delay: Int?, padding: Int) {
    (self.rate, self.channels, self.sizes, self.delay, self.padding) = (rate, channels, sizes, delay, padding)
  }

  /// Creates a frame. `padding` counts the samples that a decoder outputs before the first and after the last.
  init(rate: Int, channels: Int, sizes: [Int], padding: (first: Int64, last: Int64)) {
    let delay = padding.first - MP3Frames.decoderDelay
    self.init(
      rate: rate, channels: channels, sizes: sizes, delay: delay >= 0 ? Int(clamping: delay) : nil,
      padding: Int(clamping: padding.last.addingReportingOverflow(MP3Frames.decoderDelay).partialValue))
  }

  /// Returns whether a sample rate is one of MPEG-1.
  static func isFirstVersion(_ rate: Int) -> Bool { rate >= 32000 }

  private var isFirstVersion: Bool { Self.isFirstVersion(rate) }
  private var step: Int { isFirstVersion ? 1152 : 576 }

  /// Whether all frames have the same size, except for the byte that keeps the rate.
  private var isConstant: Bool { (sizes.max() ?? 0) - (sizes.min() ?? 0) <= 1 }

  var frame: [UInt8] {
    let side = isFirstVersion ? (channels == 2 ? 32 : 17) : (channels == 2 ? 17 : 9)
    let needed = 4 + side + 120 + 36
    let table = Self.bitRates(at: rate)
    let place = table.firstIndex { step / 8 * $0 * 1000 / rate >= needed } ?? table.count - 1
    let length = step / 8 * table[place] * 1000 / rate
    let version: UInt8 = isFirstVersion ? 3 : rate >= 16000 ? 2 : 0
    let family = [[44100, 22050, 11025], [48000, 24000, 12000], [32000, 16000, 8000]]
    let rateCode = UInt8(family.firstIndex { $0.contains(rate) } ?? 0)
    var bytes: [UInt8] = [
      0xff, 0xe0 | version << 3 | 1 << 1 | 1, UInt8(place + 1) << 4 | rateCode << 2, channels == 2 ? 0x40 : 0xc0,
    ]
    bytes += [UInt8](repeating: 0, count: side)
    let body = sizes.reduce(0) { $0 + Int64($1) }
    let total = body + Int64(length)
    bytes += Array((isConstant ? "Info" : "Xing").utf8) + [0, 0, 0, 15]
    bytes += Self.word(Int64(sizes.count)) + Self.word(total) + places + [0, 0, 0, 0]
    guard let delay else { return bytes + [UInt8](repeating: 0, count: max(0, length - bytes.count)) }
    bytes += Array("LAME".utf8) + [UInt8](repeating: 0x20, count: 5)
    // The encoding method, no lowpass, no gain, then the bit rate.
    let seconds = Double(sizes.count * step) / Double(rate)
    let kilobits = seconds > 0 ? (Double(body) / 125 / seconds).rounded() : 0
    bytes += [isConstant ? 0x01 : 0x03, 0] + [UInt8](repeating: 0, count: 8) + [0, UInt8(min(255, kilobits))]
    let (first, last) = (min(Self.mostSamples, max(0, delay)), min(Self.mostSamples, max(0, padding)))
    bytes += [UInt8(first >> 4), UInt8((first & 15) << 4 | last >> 8), UInt8(last & 255)]
    bytes += [0, 0, 0, 0] + Self.word(total) + [0, 0]
    let check = Self.checksum(bytes)
    bytes += [UInt8(check >> 8), UInt8(check & 255)]
    return bytes + [UInt8](repeating: 0, count: max(0, length - bytes.count))
  }

  /// The start of each hundredth of the audio, in 256ths of the bytes.
  private var places: [UInt8] {
    if isConstant { return (0..<100).map { UInt8($0 * 256 / 100) } }
    var ends: [Int] = [0]
    for size in sizes { ends.append((ends.last ?? 0) + size) }
    let total = max(1, ends.last ?? 1)
    return (0..<100).map { UInt8(min(255, ends[$0 * sizes.count / 100] * 256 / total)) }
  }

  private static func word(_ value: Int64) -> [UInt8] {
    let value = UInt32(clamping: value)
    return [UInt8(value >> 24), UInt8(value >> 16 & 255), UInt8(value >> 8 & 255), UInt8(value & 255)]
  }

  /// Returns the CRC-16 of ARC.
  private static func checksum(_ bytes: [UInt8]) -> UInt16 {
    bytes.reduce(0) { sum, byte in
      (0..<8).reduce(sum ^ UInt16(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xa001 : value >> 1 }
    }
  }
}
