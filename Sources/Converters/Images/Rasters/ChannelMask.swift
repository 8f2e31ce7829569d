/// The bits of one channel in a pixel's word.
struct ChannelMask {
  private let shift: Int
  private let most: Int

  /// Creates a mask. 0 is for a missing channel.
  init(_ bits: Int) {
    shift = bits == 0 ? 0 : bits.trailingZeroBitCount
    most = bits >> shift
  }

  var isEmpty: Bool { most == 0 }

  /// Returns a word's channel, scaled to the range up to `top`.
  func value(of word: Int, upTo top: Int = 255) -> Int {
    most == 0 ? 0 : (((word >> shift) & most) * top + most / 2) / most
  }

  /// Whether a byte can represent all of the channel's values.
  var fitsByte: Bool { most <= 255 }
}
