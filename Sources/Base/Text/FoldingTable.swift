internal import Locks
// Swift for canonical decompositions. Foundation's are the same, but come with 34 MB of other data.
@_spi(_Unicode) internal import Swift

/// The folded form of each character, for `FoldedText`.
///
/// Consists of blocks of 256 code points. Each is created in about .2 ms when it is first used, because the whole table
/// takes longer than a search.
struct FoldingTable: Sendable {
  /// The blocks that were created in this process, by number.
  private static let shared = UnfairLock([FoldingBlock?](repeating: nil, count: 0x1100))
  /// The blocks that this value knows, which it reads without a lock.
  private var blocks = shared.withLock { $0 }

  /// Returns the scalars that replace one. Returns `nil` if it is unchanged. O(1) but for the first one of a block.
  mutating func replacement(of scalar: UInt32) -> ArraySlice<UInt32>? {
    let number = Int(scalar >> 8)
    guard number < blocks.count else { return nil }
    return (blocks[number] ?? create(number)).replacement(of: scalar)
  }

  /// Returns the composed form of two adjacent characters: jamo of one Hangul syllable, or kana with a voicing mark.
  /// Returns `nil` if there is none.
  func composed(_ one: UInt32, _ other: UInt32) -> UInt32? {
    switch other {
    case 0x3099, 0x309a: return Self.voiced[UInt64(one) << 32 | UInt64(other)]
    case 0x1161...0x1175:
      guard (0x1100...0x1112).contains(one) else { return nil }
      return 0xac00 + ((one - 0x1100) * 21 + other - 0x1161) * 28
    case 0x11a8...0x11c2:
      guard (0xac00...0xd7a3).contains(one), (one - 0xac00) % 28 == 0 else { return nil }
      return one + other - 0x11a7
    default: return nil
    }
  }

  /// Creates a block, unless another thread did so.
  private mutating func create(_ number: Int) -> FoldingBlock {
    Self.shared.withLock { shared in
      let block = shared[number] ?? FoldingBlock(number)
      // The array is copied for the other values that have it.
      shared[number] = block
      blocks = shared
      return block
    }
  }

  /// Voiced kana by the kana and the mark. They are letters of their own, and are not replaced.
  private static let voiced: [UInt64: UInt32] = {
    var voiced: [UInt64: UInt32] = [:]
    for scalar in kana.lazy.compactMap({ Unicode.Scalar($0) }) {
      guard let (letter, mark) = voicedParts(scalar) else { continue }
      voiced[UInt64(letter) << 32 | UInt64(mark)] = scalar.value
    }
    return voiced
  }()

  private static let kana: ClosedRange<UInt32> = 0x3041...0x30ff

  /// Returns the parts of a voiced kana. Returns `nil` for other characters.
  static func voicedParts(_ scalar: Unicode.Scalar) -> (UInt32, UInt32)? {
    guard kana.contains(scalar.value) else { return nil }
    let parts = String(scalar)._nfd.map(\.value)
    return parts.count == 2 ? (parts[0], parts[1]) : nil
  }
}
