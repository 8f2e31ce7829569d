// For canonical decompositions. Foundation's are the same, but come with 34 MB of other data.
@_spi(_Unicode) internal import Swift

/// The folded form of each character, for `FoldedText`.
struct FoldingTable: Sendable {
  /// The table. Created once, in about 20 ms.
  static let shared = FoldingTable()

  /// The number of the block in `entries` for each 256 code points.
  private var blocks = [UInt16](repeating: 0, count: 0x1100)
  /// The entries, one for each code point: 0 if it is unchanged, otherwise 1 plus the offset in `scalars`. The first
  /// block has no changes.
  private var entries = [UInt16](repeating: 0, count: 256)
  /// The scalars of each entry, after their number.
  private var scalars: [UInt32] = []
  /// Voiced kana by the kana and the mark.
  private var voiced: [UInt64: UInt32] = [:]

  /// Returns the scalars that replace one. Returns `nil` if it is unchanged. O(1).
  subscript(scalar: UInt32) -> ArraySlice<UInt32>? {
    let block = Int(scalar >> 8)
    guard block < blocks.count else { return nil }
    let entry = Int(entries[Int(blocks[block]) << 8 | Int(scalar & 0xff)])
    guard entry > 0 else { return nil }
    return scalars[entry..<entry + Int(scalars[entry - 1])]
  }

  /// Returns the composed form of two adjacent characters: jamo of one Hangul syllable, or kana with a voicing mark.
  /// Returns `nil` if there is none.
  func composed(_ one: UInt32, _ other: UInt32) -> UInt32? {
    switch other {
    case 0x3099, 0x309a: return voiced[UInt64(one) << 32 | UInt64(other)]
    case 0x1161...0x1175:
      guard (0x1100...0x1112).contains(one) else { return nil }
      return 0xac00 + ((one - 0x1100) * 21 + other - 0x1161) * 28
    case 0x11a8...0x11c2:
      guard (0xac00...0xd7a3).contains(one), (one - 0xac00) % 28 == 0 else { return nil }
      return one + other - 0x11a7
    default: return nil
    }
  }

  /// The ranges in which characters are folded. They omit ideographs, syllables of Hangul and Yi, and ancient scripts
  /// without case.
  private static let ranges: [ClosedRange<UInt32>] = [
    0x80...0x33ff, 0xa4d0...0xabff, 0xf900...0xffff, 0x10000...0x11fff, 0x16e40...0x16eff, 0x1d000...0x1ffff,
    0x2f800...0x2faff, 0xe0000...0xe01ff,
  ]

  private init() {
    let compatibility = Self.readCompatibility()
    var known: [[UInt32]: UInt16] = [:]
    for scalar in Self.ranges.joined().lazy.compactMap({ Unicode.Scalar($0) }) {
      let properties = scalar.properties
      guard properties.generalCategory != .unassigned else { continue }
      let whole = Self.voicedParts(scalar)
      if let whole { voiced[UInt64(whole.0) << 32 | UInt64(whole.1)] = scalar.value }
      guard whole == nil else { continue }
      let folded = Self.folded(scalar, compatibility)
      if folded == [scalar.value] { continue }
      var entry = known[folded] ?? 0
      if entry == 0 {
        entry = UInt16(truncatingIfNeeded: scalars.count + 1)
        known[folded] = entry
        scalars += [UInt32(folded.count)] + folded
      }
      let block = Int(scalar.value >> 8)
      if blocks[block] == 0 {
        blocks[block] = UInt16(entries.count >> 8)
        entries += repeatElement(0, count: 256)
      }
      entries[Int(blocks[block]) << 8 | Int(scalar.value & 0xff)] = entry
    }
    assert(scalars.count < 1 << 16)
  }

  /// Returns the parts of a voiced kana, which is a letter of its own. Returns `nil` for other characters.
  private static func voicedParts(_ scalar: Unicode.Scalar) -> (UInt32, UInt32)? {
    guard (0x3041...0x30ff).contains(scalar.value) else { return nil }
    let parts = String(scalar)._nfd.map(\.value)
    return parts.count == 2 ? (parts[0], parts[1]) : nil
  }

  private static func folded(_ scalar: Unicode.Scalar, _ compatibility: [UInt32: String]) -> [UInt32] {
    if scalar.properties.isDefaultIgnorableCodePoint { return [] }
    let text = compatibility[scalar.value] ?? String(String.UnicodeScalarView(String(scalar)._nfd))
    var result: [UInt32] = []
    // Several upper-case letters are one in lower case: ẞ and ß, σ and ς.
    for part in text.unicodeScalars {
      let upper = part.properties.lowercaseMapping.unicodeScalars.flatMap {
        $0.properties.uppercaseMapping.unicodeScalars
      }
      for letter in upper.flatMap({ $0.properties.lowercaseMapping.unicodeScalars }) {
        for plain in String(letter)._nfd where !isRemoved(plain) {
          result += plainLetters[plain.value] ?? [plain.value]
        }
      }
    }
    return result
  }

  /// Returns whether a scalar is a mark that does not distinguish words.
  private static func isRemoved(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.properties.generalCategory == .enclosingMark { return true }
    switch scalar.properties.canonicalCombiningClass {
    case .notReordered, .kanaVoicing, .virama: return false
    default: return true
    }
  }

  /// The letters that are only visually composed (UTS #10 sorts them as letters with a mark).
  private static let plainLetters: [UInt32: [UInt32]] = {
    var plain: [UInt32: [UInt32]] = [:]
    for pair in "æae œoe øo łl đd ħh ŧt".split(separator: " ").map({ $0.unicodeScalars.map(\.value) }) {
      plain[pair[0]] = Array(pair.dropFirst())
    }
    return plain
  }()

  private static func readCompatibility() -> [UInt32: String] {
    var table: [UInt32: String] = [:]
    for line in compatibility.split(separator: "\n") {
      guard let end = line.firstIndex(of: " "), let start = UInt32(line[..<end].prefix { $0 != ":" }, radix: 16) else {
        continue
      }
      let rest = line[line.index(after: end)...].unicodeScalars
      let texts = line[..<end].hasSuffix(":") ? rest.split(separator: " ") : rest.indices.map { rest[$0...$0] }
      for (index, text) in texts.enumerated() {
        table[start + UInt32(index)] = String(String.UnicodeScalarView(text.map { $0 == "_" ? " " : $0 }))
      }
    }
    return table
  }
}
