/// How telephones code speech (3GPP TS 26.071, 26.171), in the files of RFC 4867, section 5: by the conversion's verb.
enum SpeechCoding: String {
  case narrow = "amr"
  case wide = "awb"

  /// Samples a second, always of one channel.
  var rate: Int { self == .narrow ? 8000 : 16_000 }
  /// Samples in a frame of 20 ms.
  var step: Int { rate / 50 }
  /// What the encoder looks ahead: the last samples come out so much later.
  var delay: Int { rate / 200 }

  var head: [UInt8] { Array((self == .narrow ? "#!AMR\n" : "#!AMR-WB\n").utf8) }

  /// Hundreds of bits a second, by mode.
  private var rates: [Int] {
    self == .narrow ? [48, 52, 59, 67, 74, 80, 102, 122] : [66, 89, 127, 143, 159, 183, 199, 231, 239]
  }

  /// Bytes of a frame with what stands in front of it, by mode.
  private var sizes: [Int] {
    self == .narrow ? [13, 14, 16, 18, 20, 21, 27, 32] : [18, 24, 33, 37, 41, 47, 51, 59, 61]
  }

  /// The nearest to so many thousand bits a second; the best without a wish.
  func mode(kilobits: Int?) -> Int {
    guard let kilobits else { return rates.count - 1 }
    return rates.indices.min { abs(rates[$0] - kilobits * 10) < abs(rates[$1] - kilobits * 10) } ?? 0
  }

  func frameSize(mode: Int) -> Int { sizes[mode] }
}
