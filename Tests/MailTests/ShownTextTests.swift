import Bytes
import TestSupport
import Testing

@testable import Mail

/// The text of RTF.
@Suite struct ShownTextTests {
  @Test(arguments: [
    ("{\\rtf1\\ansi a\\par b\\tab c}", "a\nb\tc"),
    ("{\\rtf1 {\\fonttbl{\\f0 Arial;}}a{\\*\\x hidden}b{\\v no}c}", "abc"),
    // Fallback characters for older programs are skipped: one byte, or the specified number.
    ("{\\rtf1 a\\u8364?b}", "a€b"), ("{\\rtf1\\uc2 a\\u8364??b}", "a€b"), ("{\\rtf1\\uc0 a\\u8364 b}", "a€b"),
    ("{\\rtf1\\uc2\\uc a\\u8364?b}", "a€b"), ("{\\rtf1{\\uc2 a}\\u8364?b}", "a€b"), ("{\\rtf1\\u8364\\'80b}", "€b"),
    ("{\\rtf1\\u-10179?\\u-8704?x}", "😀x"), ("{\\rtf1\\ansi\\ansicpg1251 \\'e0\\'e1}", "аб"),
    ("{\\rtf1 a\\bin3 {{{b}", "ab"), ("{\\rtf1 \\{a\\}\\~\\_b\\emdash}", "{a}\u{a0}\u{2011}b—"),
    // A byte of a character can look like a letter, and a text in a code page like UTF-8.
    ("{\\rtf1{\\fonttbl{\\f1\\fcharset128 A;}}\\f1 \\'83A}", "ア"), ("{\\rtf1\\ansicpg1251 \\'e4\\'b3\\'bf}", "дії"),
    ("{\\rtf1{\\fonttbl{\\f1\\fcharset2 A;}}a{\\f1\\'b7}b\\-c}", "abc"),
    ("{\\rtf1{\\generator x;}{\\themedata 00}a}", "a"),
  ])
  func rtfIsConvertedToText(_ rtf: String, _ text: String) throws {
    let source = ByteArraySource(Array(rtf.utf8))
    let decoded = try DecodedSource(decoding: 0..<source.size, of: source, with: RTFDecoder())
    #expect(String(decoding: try decoded.readThrough(), as: UTF8.self) == text)
  }

  /// Every day of 400 years, converted in both directions.
  @Test func dayNumbersMatchTheCalendar() {
    let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    var days = MailDate.days(year: 1800, month: 1, day: 1)
    #expect(days == -62_091)
    var wrong: [Int] = []
    for year in 1800..<2200 {
      let isLeap = year % 4 == 0 && year % 100 != 0 || year % 400 == 0
      for month in 1...12 {
        for day in 1...(lengths[month - 1] + (isLeap && month == 2 ? 1 : 0)) {
          if MailDate.days(year: year, month: month, day: day) != days || MailDate.civil(days) != (year, month, day) {
            wrong.append(days)
          }
          days += 1
        }
      }
    }
    #expect(wrong.isEmpty)
    #expect(MailDate.daysSince1970(year: 2023, month: 2, day: 29) == nil)
    #expect(MailDate.daysSince1970(year: 2024, month: 2, day: 29) == 19_782)
  }
}
