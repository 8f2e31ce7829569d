import Foundation
import Testing
import Text

@testable import Mail

@Suite struct WordTextTests {
  private static func indexed(_ text: String) -> String {
    String(decoding: WordText.indexed(Array(text.utf8)), as: UTF8.self)
  }

  private static func words(of text: String) -> [String] {
    indexed(text).unicodeScalars.split(separator: " ").map { String($0) }
  }

  @Test func onlyRunsOfUnspacedScriptsAreSplit() {
    for text in ["", "plain text", "grusse, jurgen\n", "привет → x", "‘quotes’ — and 😀", "हिन्दी कि की", "๑๒๓"] {
      #expect(Self.indexed(text) == text)
    }
    #expect(Self.indexed("会議の資料").split(separator: " ") == ["会議", "議の", "の資", "資料", "料"])
    #expect(Self.indexed("a会b議論。c").split(separator: " ") == ["a", "会", "b", "議論", "論", "。c"])
    #expect(Self.indexed("회의 자료").split(separator: " ") == ["회의", "의", "자료", "료"])
    #expect(Self.indexed("\u{20000}\u{20001}").split(separator: " ") == ["\u{20000}\u{20001}", "\u{20001}"])
    // By scalars: a mark behind a space is one character with it.
    for run in ["ภาษาไทย", "ພາສາລາວ", "ភាសាខ្មែរ", "မြန်မာဘာသာ"] {
      let plain = FoldedText.folded(run).unicodeScalars
      let pairs = zip(plain, plain.dropFirst()).map { "\($0)\($1)" } + plain.suffix(1).map { "\($0)" }
      #expect(Self.words(of: run) == pairs, "\(run)")
    }
  }

  /// Every substring of a run is found by the words of the index: as adjacent words, the last one as a prefix.
  @Test(arguments: ["東京都庁舎前a駅", "สวัสดีชาวโลก", "မြန်မာဘာသာ", "ガギグゲ"])
  func everySubstringOfARunIsFound(_ text: String) {
    let run = Array(text.unicodeScalars.filter { $0.properties.canonicalCombiningClass != .init(rawValue: 107) })
    let words = Self.words(of: text)
    for start in run.indices {
      for end in start..<run.count {
        let (sought, isStart) = WordText.sought(String(String.UnicodeScalarView(run[start...end])))
        let isThere = (0...max(0, words.count - sought.count)).contains { place in
          let found = words[place...].prefix(sought.count)
          guard found.count == sought.count, let last = found.last, let wanted = sought.last else { return false }
          return found.dropLast().elementsEqual(sought.dropLast())
            && (isStart ? last.utf8.starts(with: wanted.utf8) : last == wanted)
        }
        #expect(isThere, "\(run[start...end]): \(sought)")
      }
    }
  }

  /// File names from a Mac are decomposed.
  @Test func normalizationFormsOfAWordAreEqual() {
    for word in ["файл", "Αθήνα", "한글", "がぎぐ", "Grüße", "ệ", "אָ", "بَ", "ক্ষো", "ਖ਼"] {
      let forms = [word.decomposedStringWithCanonicalMapping, word.precomposedStringWithCanonicalMapping]
      #expect(Self.indexed(forms[0]) == Self.indexed(forms[1]))
      #expect(WordText.sought(forms[0]) == WordText.sought(forms[1]))
      #expect(Self.indexed(forms[0]).contains(WordText.sought(forms[1]).words[0]), "\(word)")
    }
    #expect(WordText.sought("Αθήνα").words == ["αθηνα"] && WordText.sought("йод").words == ["иод"])
  }

  /// Soft hyphens, joiners and marks of direction are parts of words. The start and the end of text in another direction
  /// separate them.
  @Test func invisibleMarksNeitherJoinNorSplitWords() {
    for mark in ["\u{ad}", "\u{200c}", "\u{200d}", "\u{200e}", "\u{200f}", "\u{61c}", "\u{2060}", "\u{feff}"] {
      #expect(Self.words(of: "har\(mark)bour") == ["harbour"])
      #expect(WordText.sought("har\(mark)bour").words == ["harbour"])
    }
    for marks in [("\u{202a}", "\u{202c}"), ("\u{202e}", "\u{202c}"), ("\u{2067}", "\u{2069}")] {
      #expect(Self.words(of: "one\(marks.0)two\(marks.1)three") == ["one", "two", "three"])
      #expect(WordText.sought("\(marks.0)two\(marks.1)").words == ["two"])
    }
  }

  @Test func invalidTextIsAccepted() {
    for text: [UInt8] in [[0xe4], [0xe4, 0xbc], [0xf0, 0xa0, 0x80], [0xff, 0xff, 0xff], [0xe4, 0x20, 0x20, 0x41]] {
      _ = WordText.indexed(text)
      _ = WordText.indexed(Array("会".utf8) + text)
    }
    #expect(WordText.sought("\u{0}\"*").words.isEmpty)
    #expect(WordText.sought("a\"b").words == ["a", "b"])
  }

  @Test func htmlWithoutAdditionalWordsIsOmitted() {
    func says(_ text: String, _ other: String) -> Bool { Message.says(Array(text.utf8), moreThan: Array(other.utf8)) }
    #expect(says("the whole story", "see the HTML") && says("x", "") && says("Grüße aus Köln", "Grusse aus Koln"))
    #expect(!says("", "x") && !says("", "") && !says("One  two\n- THREE", "* one, two; three") && !says("ä", "ä ö"))
    #expect(!says("one two three four five six seven eight", "eight seven six five four three two"))
  }
}
