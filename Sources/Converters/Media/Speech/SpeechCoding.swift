/// The speech codecs of mobile phones (3GPP TS 26.071, 26.171), in the files of RFC 4867, section 5. Raw values are the
/// conversions' verbs.
enum SpeechCoding: String {
  case narrow = "amr"
  case wide = "awb"

  /// The sample rate, in samples per second, always of one channel.
  var rate: Int { self == .narrow ? 8000 : 16_000 }
  /// The number of samples in a frame of 20 ms.
  var step: Int { rate / 50 }
  /// The look-ahead of the encoder, in samples, by which its output is delayed.
  var delay: Int { rate / 200 }

  var head: [UInt8] { Array((self == .narrow ? "#!AMR\n" : "#!AMR-WB\n").utf8) }

  /// The bit rates by mode, in hundreds of bits per second.
  private var rates: [Int] {
    self == .narrow ? [48, 52, 59, 67, 74, 80, 102, 122] : [66, 89, 127, 143, 159, 183, 199, 231, 239]
  }

  /// The sizes of a frame and its header by mode, in bytes.
  private var sizes: [Int] {
    self == .narrow ? [13, 14, 16, 18, 20, 21, 27, 32] : [18, 24, 33, 37, 41, 47, 51, 59, 61]
  }

  /// Returns the mode nearest to a bit rate in kbit/s, or the best if `kilobits` is `nil`.
  func mode(kilobits: Int?) -> Int {
    guard let kilobits else { return rates.count - 1 }
    return rates.indices.min { abs(rates[$0] - kilobits * 10) < abs(rates[$1] - kilobits * 10) } ?? 0
  }

  func frameSize(mode: Int) -> Int { sizes[mode] }
}
