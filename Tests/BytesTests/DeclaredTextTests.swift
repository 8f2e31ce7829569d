import Testing
import Text

@Suite struct DeclaredTextTests {
  /// Text that is valid UTF-8, and whether it is taken for that although another set is declared. In a set of several
  /// bytes a character, two bytes may be one of its own; in one of single bytes, a pair may be meant.
  @Test(
    arguments: [
      ("plain", "ISO-8859-1", false), ("é", "ISO-8859-1", false), ("é é", "ISO-8859-1", true),
      ("€", "ISO-8859-1", true), ("é", "ISO-2022-JP", true), ("é", "UTF-7", true), ("é é é", "GB18030", false),
      ("中", "GB18030", true), ("中 é", "GB18030", true), ("é é é 中", "GB18030", false), ("é 日", "SHIFT_JIS", true),
      ("é é 日", "EUC-JP", false), ("é é 日", "BIG5", false), ("é é 日", "CP949", false), ("é é 日", "UTF-16LE", false),
    ] as [(String, String, Bool)])
  func textIsUTF8InSpiteOfItsDeclaration(_ text: String, _ declared: String, _ expected: Bool) {
    #expect(DeclaredText.isUTF8(ArraySlice(text.utf8), declaredAs: declared) == expected)
  }

  /// A character that is cut off at the end does not count, and one in the middle does.
  @Test func cutCharactersAtTheEndAreIgnored() {
    let text = Array("€€".utf8)
    for count in 4...6 { #expect(DeclaredText.isUTF8(text[..<count], declaredAs: "CP1252")) }
    #expect(!DeclaredText.isUTF8(text[1...], declaredAs: "CP1252"))
    #expect(!DeclaredText.isUTF8(text[..<5] + [0x41], declaredAs: "CP1252"))
  }
}
