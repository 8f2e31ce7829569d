import Foundation
import Testing
import Text

/// Case, accents, widths and ligatures of texts that are compared.
@Suite struct FoldedTextTests {
  /// Spellings of one word each, the folded one first.
  static let spellings: [[String]] = [
    ["strasse", "Straße", "STRASSE", "STRAẞE", "Stra\u{ad}ße"], ["еще", "ещё", "ЕЩЁ", "еще\u{308}"],
    ["محمد", "مُحَمَّد", "ﻣﺤﻤﺪ"], ["abc 123", "ＡＢＣ　１２３", "ABC 123", "𝐀𝔟𝒄 ①②③"],
    ["istanbul isik", "İstanbul ışık", "ISTANBUL IŞIK", "i̇stanbul işık"], ["oeuvre", "œuvre", "ŒUVRE", "Œuvre"],
    ["aether", "Æther", "ÆTHER"], ["office", "oﬃce", "OFFICE", "oﬀice"], ["lodz", "Łódź", "ŁÓDŹ"],
    ["smorgas", "Smørgås"], ["αθηνα", "Αθήνα", "ΑΘΉΝΑ", "ἈΘΗ͂ΝΑ"], ["οδοσ", "Οδός", "ΟΔΟΣ", "ὁδός"],
    ["τωι", "τῷ", "ΤΩΙ"],
    ["ガギグ", "ｶﾞｷﾞｸﾞ", "カ\u{3099}キ\u{3099}ク\u{3099}"],
    ["한글", "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}"],
    ["שלום", "שָׁלוֹם"], ["tieng viet", "Tiếng Việt", "tie\u{302}\u{301}ng vie\u{323}\u{302}t"],
    ["ijsselmeer", "Ĳsselmeer", "ĳsselmeer"], ["kg", "㎏", "ＫＧ"], ["x2", "x²"], ["no", "№"], ["a_b", "a＿b"],
    ["\u{8c48}", "\u{f900}"],
    ["naive", "naïve", "nai\u{308}ve"], ["a1", "a\u{200d}1", "a\u{fe0f}1\u{20e3}"],
    ["ท\u{e4d}\u{e32}", "ทำ"], ["\u{e99}\u{ecd}\u{eb2}", "ນຳ"],
  ]

  @Test(arguments: spellings) func equivalentSpellingsFoldToOneForm(_ spellings: [String]) {
    let folded = Array(spellings[0].unicodeScalars)
    for spelling in spellings {
      for form in [
        spelling, spelling.decomposedStringWithCanonicalMapping, spelling.precomposedStringWithCanonicalMapping,
      ] {
        #expect(Array(FoldedText.folded(form).unicodeScalars) == folded, "\(spelling)")
      }
    }
  }

  /// Vowels of Indic scripts, voicing marks and viramas make other words.
  @Test(arguments: [("कि", "की"), ("か", "が"), ("ハ", "パ"), ("กิน", "กัน"), ("క", "క్"), ("l", "1"), ("o", "0"), ("е", "e")])
  func distinctLettersFoldDifferently(_ pair: (String, String)) {
    #expect(FoldedText.folded(pair.0) != FoldedText.folded(pair.1))
  }

  @Test func foldingIsIdempotentAndCaseInsensitive() {
    for value in UInt32(0)..<0x20000 {
      guard let scalar = Unicode.Scalar(value), scalar.properties.generalCategory != .unassigned else { continue }
      let once = FoldedText.folded(String(scalar)).unicodeScalars
      // The table of compatibility mappings is of Unicode 14.
      let isInTable = (scalar.properties.age?.major ?? 0) <= 14
      for other in [
        String(once), scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping,
        isInTable ? String(scalar).decomposedStringWithCompatibilityMapping : String(scalar),
      ] where !FoldedText.folded(other).unicodeScalars.elementsEqual(once) {
        Issue.record("U+\(String(value, radix: 16)) is \(String(once)), but \(other) is \(FoldedText.folded(other))")
      }
    }
  }

  @Test func invalidBytesAreKept() {
    for bytes: [UInt8] in [
      [0xc3], [0xff, 0x41], [0xe4, 0xbc], [0xf0, 0xa0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80],
    ] {
      #expect(FoldedText.folded(bytes) == bytes.map { $0 == 0x41 ? 0x61 : $0 })
    }
  }
}
