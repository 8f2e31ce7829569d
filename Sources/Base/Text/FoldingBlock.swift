// For canonical decompositions, as in FoldingTable.
@_spi(_Unicode) internal import Swift

/// The replacements of 256 code points of a `FoldingTable`.
struct FoldingBlock: Sendable {
  /// One for each code point: 0 if it is unchanged, otherwise 1 plus the offset in `scalars`. Empty if all are unchanged.
  private var entries: [UInt16] = []
  /// The scalars of each entry, after their number.
  private var scalars: [UInt32] = []

  /// Creates the block with a number, the code points from `number << 8`.
  init(_ number: Int) {
    let codes = UInt32(number) << 8...UInt32(number) << 8 | 0xff
    guard Self.ranges.contains(where: { $0.overlaps(codes) }) else { return }
    let compatibility = Self.readCompatibility(codes)
    entries = [UInt16](repeating: 0, count: codes.count)
    var known: [[UInt32]: UInt16] = [:]
    for code in codes where Self.ranges.contains(where: { $0.contains(code) }) {
      guard let scalar = Unicode.Scalar(code), scalar.properties.generalCategory != .unassigned,
        FoldingTable.voicedParts(scalar) == nil
      else { continue }
      let folded = Self.folded(scalar, compatibility)
      if folded == [code] { continue }
      var entry = known[folded] ?? 0
      if entry == 0 {
        entry = UInt16(truncatingIfNeeded: scalars.count + 1)
        known[folded] = entry
        scalars += [UInt32(folded.count)] + folded
      }
      entries[Int(code & 0xff)] = entry
    }
    assert(scalars.count < 1 << 16)
  }

  /// Returns the scalars that replace one of this block. Returns `nil` if it is unchanged. O(1).
  func replacement(of scalar: UInt32) -> ArraySlice<UInt32>? {
    guard !entries.isEmpty else { return nil }
    let entry = Int(entries[Int(scalar & 0xff)])
    guard entry > 0 else { return nil }
    return scalars[entry..<entry + Int(scalars[entry - 1])]
  }

  /// The ranges in which characters are folded. They omit ideographs, syllables of Hangul and Yi, and ancient scripts
  /// without case.
  private static let ranges: [ClosedRange<UInt32>] = [
    0x80...0x33ff, 0xa4d0...0xabff, 0xf900...0xffff, 0x10000...0x11fff, 0x16e40...0x16eff, 0x1d000...0x1ffff,
    0x2f800...0x2faff, 0xe0000...0xe01ff,
  ]

  /// Returns what replaces a scalar, which may be itself.
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

  /// Returns the compatibility decompositions of the code points.
  private static func readCompatibility(_ codes: ClosedRange<UInt32>) -> [UInt32: String] {
    var table: [UInt32: String] = [:]
    for line in FoldingTable.compatibility.utf8.split(separator: UInt8(ascii: "\n")) {
      let first = line.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: ":") }
      // No run has more than 80 characters.
      guard let start = UInt32(Substring(first), radix: 16), start <= codes.upperBound, start + 80 >= codes.lowerBound
      else { continue }
      let rest = Substring(line[first.endIndex...]).unicodeScalars
      let hasTexts = rest.first == ":"
      let texts = rest.dropFirst(hasTexts ? 2 : 1)
      let runs = hasTexts ? texts.split(separator: " ") : texts.indices.map { texts[$0...$0] }
      for (index, text) in runs.enumerated() {
        table[start + UInt32(index)] = String(String.UnicodeScalarView(text.map { $0 == "␣" ? " " : $0 }))
      }
    }
    return table
  }
}
