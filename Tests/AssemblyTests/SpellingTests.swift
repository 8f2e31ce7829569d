import Testing

@testable import Assembly

@Suite struct SpellingTests {
  @Test(arguments: [
    ("", "", 0), ("a", "", 1), ("list", "list", 0), ("lst", "list", 1), ("lits", "list", 1), ("unmont", "unmount", 1),
    ("kitten", "sitting", 3), ("dcox", "docx", 1), ("äöü", "äöu", 1),
  ]) func distanceCountsChanges(_ one: String, _ other: String, _ distance: Int) {
    #expect(Spelling.distance(one, other) == distance && Spelling.distance(other, one) == distance)
  }

  @Test func onlySimilarWordsAreOffered() {
    let words = ["list", "unmount", "index", "search"]
    for (word, near) in [
      ("lst", "list"), ("umnount", "unmount"), ("serch", "search"), ("indx", "index"), ("photos", nil),
      ("x", nil), ("list", nil),
    ] {
      #expect(Spelling.nearest(to: word, among: words) == near, "\(word)")
    }
  }

  @Test func foreignFormatsAreRecognised() {
    for (mark, offset, name) in [
      ("hsqs", 0, "a SquashFS image"), ("BEA01", 0x8001, "a UDF image"), ("**ACE**", 7, "an ACE archive"),
      ("PK", 0, nil), ("", 0, nil), ("hsqs", 1, nil),
    ] {
      let head = [UInt8](repeating: 0, count: offset) + Array(mark.utf8)
      #expect(ForeignFormat(startingWith: head[...])?.name == name)
    }
  }
}
