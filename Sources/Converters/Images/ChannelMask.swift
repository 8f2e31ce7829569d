/// The bits of a pixel's word that one channel has.
struct ChannelMask {
  private let shift: Int
  private let most: Int

  /// 0 for a channel that is missing.
  init(_ bits: Int) {
    shift = bits == 0 ? 0 : bits.trailingZeroBitCount
    most = bits >> shift
  }

  var isEmpty: Bool { most == 0 }

  /// The channel of a word, scaled to at most `top`.
  func value(of word: Int, upTo top: Int = 255) -> Int {
    most == 0 ? 0 : (((word >> shift) & most) * top + most / 2) / most
  }

  /// Whether a byte holds all of the channel's values.
  var fitsByte: Bool { most <= 255 }
}
