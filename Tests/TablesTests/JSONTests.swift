import Bytes
import TestSupport
import Testing

@testable import Tables

/// JSON and its text.
struct JSONFixture: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let bytes: [UInt8]
  let text: String
  var content = TableForm.Content.json

  init(_ json: String, _ text: String) { self.init(json, Array(json.utf8), text) }

  init(_ description: String, _ bytes: [UInt8], _ text: String) {
    testDescription = description
    self.bytes = bytes
    self.text = text
  }

  private static func fault(_ line: Int, _ byte: Int, _ reason: String) -> String {
    "[not JSON from line \(line), byte \(byte) on: \(reason)]\n"
  }

  static let all = [
    JSONFixture("{}", "{}\n"), JSONFixture(" [ ] ", "[]\n"), JSONFixture("0", "0\n"), JSONFixture("\"\"", "\"\"\n"),
    JSONFixture("true", "true\n"), JSONFixture("-1.5e+10", "-1.5e+10\n"), JSONFixture("null\n", "null\n"),
    JSONFixture(
      "[1,[2,{\"a\":{},\"b\":[[]]}]]",
      """
      [
        1,
        [
          2,
          {
            "a": {},
            "b": [
              []
            ]
          }
        ]
      ]

      """),
    JSONFixture("[\"\\u00e9\\n\\\"\",\"é京🇫🇷\"]", "[\n  \"\\u00e9\\n\\\"\",\n  \"é京🇫🇷\"\n]\n"),
    JSONFixture(
      "{\"\u{9b}31m\":\"\u{80}\u{9f}\u{a0}\u{c0}\u{7f}\"}",
      "{\n  \"\\u009b31m\": \"\\u0080\\u009f\u{a0}\u{c0}\u{7f}\"\n}\n"),
    JSONFixture("\"\u{7f}\u{7f}a\u{7f}\"", "\"\u{7f}\u{7f}a\u{7f}\"\n"),
    JSONFixture(
      "{}{}[][]\"a\"\"b\"1[]true\"c\"null\n0\t1", "{}\n{}\n[]\n[]\n\"a\"\n\"b\"\n1\n[]\ntrue\n\"c\"\nnull\n0\n1\n"),
    JSONFixture("1 2\n[3]", "1\n2\n[\n  3\n]\n"),
    JSONFixture(
      "[NaN,-Infinity,Infinity,NaN]", "[\n  NaN,\n  -Infinity,\n  Infinity,\n  NaN\n]\n"),
    JSONFixture("a mark", [0xef, 0xbb, 0xbf, 0x31], "1\n"),
    JSONFixture("UTF-16", "[\"ä\"]".utf16.flatMap { [UInt8($0 & 0xff), UInt8($0 >> 8)] }, "[\n  \"ä\"\n]\n"),
    // Faults.
    JSONFixture("", fault(1, 0, "expected a value, found the end of the file")),
    JSONFixture(" \n", fault(2, 2, "expected a value, found the end of the file")),
    JSONFixture("[1,\n2", "[\n  1,\n  2\n" + fault(2, 5, "expected ',' or ']', found the end of the file")),
    JSONFixture("[1,]", "[\n  1,\n  \n" + fault(1, 3, "expected a value, found ']'")),
    JSONFixture("{\"a\" 1}", "{\n  \"a\"\n" + fault(1, 5, "expected ':', found '1'")),
    JSONFixture("{\"a\":1,}", "{\n  \"a\": 1,\n" + fault(1, 7, "expected a key, found '}'")),
    JSONFixture("{a:1}", "{\n" + fault(1, 1, "expected a key or '}', found 'a'")),
    JSONFixture("[1}", "[\n  1\n" + fault(1, 2, "expected ',' or ']', found '}'")),
    JSONFixture("]", fault(1, 0, "expected a value, found ']'")),
    JSONFixture("01", "0\n" + fault(1, 1, "expected white space, found '1'")),
    JSONFixture(" 00012", "0\n" + fault(1, 2, "expected white space, found '0'")),
    JSONFixture("truefalse", "true\n" + fault(1, 4, "expected white space, found 'f'")),
    JSONFixture("1-2", "1\n" + fault(1, 1, "expected white space, found '-'")),
    JSONFixture("nullx", "null\n" + fault(1, 4, "expected a value, found 'x'")),
    JSONFixture("a byte of a mark", [0xef] + Array("[1]".utf8), fault(1, 0, "expected a value, found the byte 0xef")),
    JSONFixture(
      "two bytes of a mark", [0xef, 0xbb] + Array("[1]".utf8), fault(1, 0, "expected a value, found the byte 0xef")),
    JSONFixture("nothing but a byte of a mark", [0xef], fault(1, 0, "expected a value, found the byte 0xef")),
    JSONFixture(
      "a mark later", Array("1 ".utf8) + [0xef], "1\n" + fault(1, 2, "expected a value, found the byte 0xef")),
    JSONFixture("[01]", "[\n  0\n" + fault(1, 2, "expected ',' or ']', found '1'")),
    JSONFixture("[1.]", "[\n  1.\n" + fault(1, 3, "expected a digit, found ']'")),
    JSONFixture("[-]", "[\n  -\n" + fault(1, 2, "expected a digit, found ']'")),
    JSONFixture("nul", "nul\n" + fault(1, 3, "expected null, found the end of the file")),
    JSONFixture("\"a", "\"a\n" + fault(1, 2, "expected the string's end, found the end of the file")),
    JSONFixture("\"a\nb\"", "\"a\n" + fault(1, 2, "expected the string's end, found a line end")),
    JSONFixture("\"\\x\"", "\"\n" + fault(1, 2, "expected one of \"\\/bfnrtu after the backslash, found 'x'")),
    JSONFixture("\"\\u12\"", "\"\\u12\n" + fault(1, 5, "expected four hexadecimal digits, found '\"'")),
    JSONFixture(
      "a byte that is no UTF-8", Array("[\"a".utf8) + [0xff] + Array("\"]".utf8),
      "[\n  \"a\n" + fault(1, 3, "expected UTF-8, found the byte 0xff")),
    JSONFixture(
      "half a character", Array("\"".utf8) + [0xe2, 0x82] + Array("\"".utf8),
      "\"\n" + fault(1, 3, "expected UTF-8, found '\"'")),
    JSONFixture(
      "a surrogate", Array("\"".utf8) + [0xed, 0xa0, 0x80],
      "\"\n" + fault(1, 2, "expected UTF-8, found the byte 0xa0")),
    JSONFixture("{\"a\":0}\0", "{\n  \"a\": 0\n}\n" + fault(1, 7, "expected a value, found the byte 0x00")),
    JSONFixture("\u{1b}[31m", fault(1, 0, "expected a value, found the byte 0x1b")),
  ]

  static let lines = [
    JSONFixture("", ""), JSONFixture("{\"a\":1}\n{}\n\n2", "{\n  \"a\": 1\n}\n{}\n2\n"),
    JSONFixture(
      "[1\n[2]\nx y z\n3\n",
      "[\n  1\n" + fault(1, 2, "expected ',' or ']', found a line end")
        + "[\n  2\n]\n" + fault(3, 7, "expected a value, found 'x'") + "3\n"),
    JSONFixture(
      "1true 2\n3\n4", "1\n" + fault(1, 1, "expected white space, found 't'") + "3\n4\n"),
    JSONFixture(
      "two bytes of a mark", [0xef, 0xbb] + Array("1\n2".utf8),
      fault(1, 0, "expected a value, found the byte 0xef") + "2\n"),
    JSONFixture("nothing but a byte of a mark", [0xef], fault(1, 0, "expected a value, found the byte 0xef")),
    JSONFixture("1\n\"tru", "1\n\"tru\n" + fault(2, 6, "expected the string's end, found the end of the file")),
  ]
}

@Suite struct JSONTests {
  @Test(arguments: JSONFixture.all, [1, 2, 5, .max])
  func jsonIsIndentedUpToItsFirstError(_ fixture: JSONFixture, _ size: Int) throws {
    #expect(try MadeText.text(fixture.bytes, .text, .json, pieces: size) == fixture.text)
  }

  @Test(arguments: JSONFixture.lines, [1, 3, .max])
  func jsonLinesAreParsedIndependently(_ fixture: JSONFixture, _ size: Int) throws {
    #expect(try MadeText.text(fixture.bytes, .text, .jsonLines, pieces: size) == fixture.text)
  }

  @Test func nestingDepthIsLimited() throws {
    let deepest = NestingStack.deepest
    let good = [UInt8](repeating: 0x5b, count: deepest) + [UInt8](repeating: 0x5d, count: deepest)
    let text = try MadeText.text(good, .text, .json, pieces: 4096)
    #expect(text.hasSuffix("\n]\n") && !text.contains("not JSON"))
    // Indentation does not grow with the depth, which would make gigabytes from a few kilobytes.
    #expect(text.utf8.count < 70 * good.count)
    let bad = [UInt8](repeating: 0x5b, count: deepest + 1)
    #expect(
      try MadeText.text(bad, .text, .json, pieces: 4096)
        .hasSuffix("byte \(deepest) on: it is nested deeper than \(deepest) levels]\n"))
  }

  @Test func jsonOutputIsIndependentOfPieceSize() throws {
    var random = SeededNumbers(seed: 11)
    let seed = Array("{\"a\":[1,-2.5e3,true,null,\"x\\u00e9ü\\n\"],\"b\":{\"c\":[]}}\n[false]".utf8)
    for _ in 0..<300 {
      var bytes = seed
      for _ in 0..<2 { bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next()) }
      for content in [TableForm.Content.json, .jsonLines] {
        let whole = try MadeText.text(bytes, .text, content)
        #expect(try MadeText.text(bytes, .text, content, pieces: 4) == whole)
      }
    }
  }
}
