import Bytes
import Testing

@Suite struct ShellWordTests {
  @Test(arguments: [
    ("plain-1.txt", "plain-1.txt"), ("", "''"), ("two words", "'two words'"), ("it's", #"'it'\''s'"#),
    ("$HOME", "'$HOME'"), (#"a\b"#, #"'a\b'"#),
  ])
  func textIsQuotedAsOneShellWord(_ text: String, _ word: String) { #expect(ShellWord.quoted(text) == word) }
}
