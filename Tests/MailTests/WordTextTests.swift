import Foundation
import Testing

@testable import Mail

@Suite struct WordTextTests {
  private static func indexed(_ text: String) -> String {
    String(decoding: WordText.indexed(Array(text.utf8)), as: UTF8.self)
  }

  @Test func onlyRunsWithoutSpacesChange() {
    for text in ["", "plain text", "Grüße, Jürgen\n", "Привет → x", "‘quotes’ — and 😀", "\u{e9}"] {
      #expect(Self.indexed(text) == text)
    }
    #expect(Self.indexed("会議の資料").split(separator: " ") == ["会議", "議の", "の資", "資料", "料"])
    #expect(Self.indexed("a会b議論。c").split(separator: " ") == ["a", "会", "b", "議論", "論", "。c"])
    #expect(Self.indexed("회의 자료").split(separator: " ") == ["회의", "의", "자료", "료"])
    #expect(Self.indexed("\u{20000}\u{20001}").split(separator: " ") == ["\u{20000}\u{20001}", "\u{20001}"])
  }

  /// Every substring of a run is found by the words of the index: as adjacent words, the last one as a prefix.
  @Test func everyPieceOfARunIsFound() {
    let run = Array("東京都庁舎前a駅")
    let words = Self.indexed(String(run)).split(separator: " ").map(String.init)
    for start in run.indices {
      for end in start..<run.count {
        let (sought, isStart) = WordText.sought(String(run[start...end]))
        let isThere = (0...max(0, words.count - sought.count)).contains { place in
          let found = words[place...].prefix(sought.count)
          guard found.count == sought.count, let last = found.last, let wanted = sought.last else { return false }
          return found.dropLast().elementsEqual(sought.dropLast())
            && (isStart ? last.hasPrefix(wanted) : last == wanted)
        }
        #expect(isThere, "\(String(run[start...end])): \(sought)")
      }
    }
  }

  /// File names from a Mac are decomposed.
  @Test func spellingsOfOneWordAreOne() {
    for word in ["файл", "Αθήνα", "한글", "がぎぐ", "Grüße"] {
      let forms = [word.decomposedStringWithCanonicalMapping, word.precomposedStringWithCanonicalMapping]
      #expect(Self.indexed(forms[0]) == Self.indexed(forms[1]))
      #expect(WordText.sought(forms[0]) == WordText.sought(forms[1]))
      #expect(Self.indexed(forms[0]).contains(WordText.sought(forms[1]).words[0]), "\(word)")
    }
    #expect(WordText.sought("Αθήνα").words == ["Αθηνα"] && WordText.sought("йод").words == ["йод"])
  }

  @Test func brokenTextIsNoError() {
    for text: [UInt8] in [[0xe4], [0xe4, 0xbc], [0xf0, 0xa0, 0x80], [0xff, 0xff, 0xff], [0xe4, 0x20, 0x20, 0x41]] {
      _ = WordText.indexed(text)
      _ = WordText.indexed(Array("会".utf8) + text)
    }
    #expect(WordText.sought("\u{0}\"*").words.isEmpty)
    #expect(WordText.sought("a\"b").words == ["a", "b"])
  }

  @Test func htmlThatSaysNoMoreIsLeftOut() {
    func says(_ text: String, _ other: String) -> Bool { Message.says(Array(text.utf8), moreThan: Array(other.utf8)) }
    #expect(says("the whole story", "see the HTML") && says("x", "") && says("Grüße aus Köln", "Grusse aus Koln"))
    #expect(!says("", "x") && !says("", "") && !says("One  two\n- THREE", "* one, two; three") && !says("ä", "ä ö"))
    #expect(!says("one two three four five six seven eight", "eight seven six five four three two"))
  }
}
