/// The frames that LAME makes of a number of samples at a constant bit rate. The information frame before them tells
/// players how many samples at either end do not belong to the source.
struct MP3Frames {
  let rate: Int
  let channels: Int
  /// The number of samples in the source.
  let samples: Int64
  /// The bit rate in kbit/s.
  let kilobits: Int

  /// The number of samples that LAME puts before the first.
  private static let delay: Int64 = 576
  /// The number of samples that a decoder adds.
  static let decoderDelay: Int64 = 529

  private var isFirstVersion: Bool { MP3Information.isFirstVersion(rate) }
  /// The number of samples in a frame.
  var step: Int { isFirstVersion ? 1152 : 576 }

  /// Creates the frames with the possible bit rate that is nearest to `kilobits`. Returns `nil` if MP3 does not support
  /// the format.
  init?(rate: Int, channels: Int, samples: Int64, kilobits: Int) {
    guard Self.rates.contains(rate), (1...2).contains(channels), samples > 0 else { return nil }
    self.rate = rate
    self.channels = channels
    self.samples = samples
    self.kilobits = Self.nearest(to: kilobits, at: rate)
  }

  private static let rates = [44100, 48000, 32000, 22050, 24000, 16000, 11025, 12000, 8000]

  /// Returns the nearest bit rate that exists at a sample rate.
  static func nearest(to kilobits: Int, at rate: Int) -> Int {
    MP3Information.bitRates(at: rate).min { abs($0 - kilobits) < abs($1 - kilobits) } ?? kilobits
  }

  // MARK: Number and size

  private var end: Int64 {
    let step = Int64(step)
    let rest = step - (Self.delay + samples) % step
    return rest < 576 ? rest + step : rest
  }

  var count: Int64 { (Self.delay + samples + end) / Int64(step) }

  /// The size of a frame in whole bytes. An additional byte in some frames keeps the rate.
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

  // MARK: The information frame

  /// The information frame of Xing and LAME, which is silent and records the length.
  var information: [UInt8] {
    var sizes: [Int] = []
    forEachSize { sizes.append($0) }
    return MP3Information(rate: rate, channels: channels, sizes: sizes, delay: Int(Self.delay), padding: Int(end)).frame
  }
}
