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

  private var isFirstVersion: Bool { MP3Information.isFirstVersion(rate) }
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

  /// Of the bit rates that there are at a sample rate.
  static func nearest(to kilobits: Int, at rate: Int) -> Int {
    MP3Information.bitRates(at: rate).min { abs($0 - kilobits) < abs($1 - kilobits) } ?? kilobits
  }

  // MARK: How many there are, and how long they are

  private var end: Int64 {
    let step = Int64(step)
    let rest = step - (Self.delay + samples) % step
    return rest < 576 ? rest + step : rest
  }

  var count: Int64 { (Self.delay + samples + end) / Int64(step) }

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

  // MARK: The first frame

  /// Of Xing's and LAME's making: what has no sound, and says how long the sound is.
  var information: [UInt8] {
    var sizes: [Int] = []
    forEachSize { sizes.append($0) }
    return MP3Information(rate: rate, channels: channels, sizes: sizes, delay: Int(Self.delay), padding: Int(end)).frame
  }
}
