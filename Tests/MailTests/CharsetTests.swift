import Bytes
import Foundation
import Testing

@testable import Mail

/// A text as bytes, and names that senders use for its charset.
struct LabelledText: CustomTestStringConvertible, Sendable {
  let labels: [String]
  let bytes: [UInt8]
  let text: String
  var testDescription: String { "\(text) as \(labels[0])" }

  init(_ text: String, _ hex: String, _ labels: String...) {
    self.text = text
    self.labels = labels
    let digits = hex.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
    bytes = stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  static let all = [
    LabelledText("Привет", "f0d2c9d7c5d4", "koi8_r", "KOI8-R", "koi8r", "cskoi8r", "koi", "cp20866"),
    LabelledText("Привіт", "f0d2c9d7a6d4", "KOI8-U", "koi8_u", "koi8-ru", "cp21866"),
    LabelledText("Привет", "cff0e8e2e5f2", "cp1251", "win-1251", "win1251", "windows1251", "x-cp1251", "ptcp154"),
    LabelledText("Привет", "8fe0a8a2a5e2", "cp866", "ibm866", "866"),
    LabelledText("Привет", "8ff0e8e2e5f2", "x-mac-cyrillic", "x-mac-ukrainian", "cp10007"),
    LabelledText("議題①", "8b6391e88740", "windows-31j", "cp932", "ms932", "x-sjis", "Shift_JIS", "sjis", "csShiftJIS"),
    LabelledText("議題①㈱", "b5c4c2eaada1adea", "euc-jp", "x-euc-jp", "euc_jp", "cp51932"),
    LabelledText("議題", "1b2442354442 6a1b2842", "iso-2022-jp-3", "iso-2022-jp-1", "iso-2022-jp-2"),
    LabelledText(
      "①㈱№髙 b", "1b24422d212d6a2d62 7c621b284220 62", "iso-2022-jp", "csISO2022JP", "iso-2022-jp-ms", "cp50220",
      "cp50221"),
    LabelledText("ﾃｽﾄ", "1b2849433d441b2842", "iso-2022-jp", "cp50220"),
    LabelledText(
      "你好", "c4e3bac3", "gbk", "x-gbk", "gb2312", "eucgb2312_cn", "gb_2312-80", "gb2312-80", "euc-cn", "cp936",
      "ms936", "windows-936", "gb_2312-80:1980", "csGB2312"),
    LabelledText("你好€", "c4e3bac3a2e3", "gb18030", "cp54936"),
    LabelledText("你好~a", "7e7b44633a437e7d7e7e61", "hz-gb-2312", "hz", "cp52936"),
    LabelledText("你好", "a741a66e", "big5", "big5-hkscs", "big5_tw", "x-big5", "cn-big5", "cp950", "x-x-big5"),
    LabelledText(
      "안녕", "bec8b3e7", "ks_c_5601-1987", "ks_c_5601_1987", "ksc5601", "euc_kr", "x-windows-949", "windows-949", "uhc"),
    LabelledText("똠방", "8c63b9e6", "cp949", "euc-kr"),
    LabelledText("안녕", "1b2429430e3e4833670f", "iso-2022-kr", "csiso2022kr"),
    LabelledText("안녕", "b4659177", "johab", "cp1361"),
    LabelledText("สวัสดี€", "cac7d1cab4d580", "windows-874", "tis-620", "iso-8859-11", "dos-874"),
    LabelledText("Chào", "4368e06f", "windows-1258"),
    LabelledText("Grüße", "47729fa765", "macintosh", "x-mac-roman", "mac", "csmacintosh"),
    LabelledText("üódź", "9f976490", "x-mac-ce", "x-mac-centraleurroman", "cp10029"),
    LabelledText("Grüße", "47722b415077413377 2d65", "utf-7", "unicode-1-1-utf-7", "cp65000"),
    LabelledText("Grüße", "4772c3bcc39f65", "utf8mb4", "utf8", "utf_8", "UTF 8", "'utf-8'", "\"utf-8\"", "cp65001"),
    LabelledText(
      "Grüße€", "4772fcdf6580", "iso8859-1", "iso8859_1", "iso_8859_1", "latin-1", "l1", "iso-ir-100", "ansi",
      "windows-1252 ", "windows-1252http-equivcontent-type", "iso-8859-1*de", "ISO_8859-1:1987", "cp819", "DEFAULT",
      "unknown-8bit", "us-ascii"),
    LabelledText("Grüße", "4772fcdf65", "iso-8859-16", "iso-8859-10", "iso-8859-9", "latin5"),
    LabelledText("Grüße", "477281e165", "ibm850", "cp-850", "cp437", "ibm437", "cp850"),
    LabelledText("Łódź", "a3f364bc", "iso_8859-2", "iso8859_2", "latin2", "csisolatin2"),
    LabelledText("Łódź", "a3f3649f", "cp1250", "x-cp1250"),
    LabelledText("שלום", "f9ece5ed", "iso-8859-8-i", "iso-8859-8-e", "logical", "visual"),
    LabelledText("سنة", "d3e6c9", "iso-8859-6-e", "iso-8859-6-i", "arabic"),
    LabelledText("ab", "00610062", "x-iso-10646-ucs-2-be", "utf-16be"),
  ]

  /// Declared as another charset, but UTF-8.
  static let translated = [
    LabelledText("你好", "e4bda0e5a5bd", "gb2312", "big5", "hz", "euc-cn"),
    LabelledText("議題", "e8adb0e9a18c", "shift_jis", "iso-2022-jp", "euc-jp"),
    LabelledText("안녕", "ec9588eb8595", "euc-kr"),
    LabelledText("Привет", "d09fd180d0b8d0b2d0b5d182", "koi8-r", "windows-1251"),
    LabelledText("Łódź", "c581c3b364c5ba", "iso-8859-2"),
  ]
}

@Suite struct CharsetTests {
  @Test(arguments: LabelledText.all + LabelledText.translated) func labelledTextIsDecodedAsIntended(
    _ sample: LabelledText
  ) {
    for label in sample.labels {
      let word = Array(
        "=?\(label.filter { !" \"'".contains($0) })?B?\(Data(sample.bytes).base64EncodedString())?=".utf8)
      #expect(Charset.text(sample.bytes[...], named: Array(label.utf8)[...]) == sample.text, "\(label)")
      #expect(EncodedWords.decode(word[...]) == sample.text, "\(label)")
    }
  }

  @Test(arguments: LabelledText.all + LabelledText.translated) func labelledBodiesAreDecodedAsIntended(
    _ sample: LabelledText
  ) throws {
    for label in sample.labels {
      let head = "Content-Type: text/plain; charset=\"\(label.replacing("\"", with: ""))\"\n\n"
      // In UTF-16, line ends are not those that the reader splits at.
      let mail = try OpenMail(Array(head.utf8) + sample.bytes)
      #expect(try mail.body == sample.text, "\(label)")
    }
  }

  /// The mark of one text is not applied to another.
  @Test(arguments: ["utf-16", "utf-32", "unicode"]) func byteOrderIsThatOfEachText(_ label: String) {
    func bytes(_ text: String, isBig: Bool) -> [UInt8] {
      text.unicodeScalars.flatMap { scalar in
        let little = (0..<(label == "utf-32" ? 4 : 2)).map { UInt8(truncatingIfNeeded: scalar.value >> (8 * $0)) }
        return isBig ? little.reversed() : little
      }
    }
    for isBig in [true, false, false, true, true] {
      for text in ["\u{feff}東京", "\u{feff}a", "ab東"] {
        let decoded = Charset.text(bytes(text, isBig: isBig)[...], named: Array(label.utf8)[...])
        #expect(decoded == text.replacing("\u{feff}", with: ""), "\(text) \(isBig)")
      }
    }
  }

  @Test func declaredCharsetOverridesUTF8Detection() {
    // 模 and 拢.
    #expect(Charset.text([0xc4, 0xa3], named: Array("gb2312".utf8)[...]) == "模")
    #expect(Charset.text([0xc2, 0xa3], named: Array("gbk".utf8)[...]) == "拢")
    #expect(Charset.text([0xc3, 0xa9], named: Array("iso-8859-1".utf8)[...]) == "Ã©")
  }

  @Test func truncatedCharacterAffectsNoOther() {
    #expect(Charset.text([0x93, 0xfa, 0x96, 0x7b, 0x8c], named: Array("shift_jis".utf8)[...]) == "日本\u{fffd}")
  }

  static let raw = [
    LabelledText("你好", "a741a66e", "big5"), LabelledText("안녕하세요", "bec8b3e7c7cfbcbcbfe4", "euc-kr"),
    LabelledText("Żółć", "aff3b3e6", "iso-8859-2"), LabelledText("Привет всем", "f0d2c9d7c5d420d7d3c5cd", "koi8-r"),
    LabelledText("会議のお知らせ", "89ef8b6382cc82a8926d82e782b9", "shift_jis"),
    LabelledText("Привет", "cff0e8e2e5f2", "windows-1251"),
  ]

  @Test(arguments: raw) func rawHeadersUseDeclaredCharset(_ sample: LabelledText) throws {
    let type = "Content-Type: text/plain; charset=\(sample.labels[0])\n"
    let word = "Subject: =?\(sample.labels[0])?Q?abc?=\n"
    let from = Array("From: ".utf8) + sample.bytes + Array(" <a@b.c>\n".utf8)
    let subject = Array("Subject: ".utf8) + sample.bytes + [0x0a]
    for (head, text) in [(from + subject + type.utf8, sample.text), (from + word.utf8, "abc")] {
      let row = try #require(try scan(separator + head + Array("\nbody\n".utf8)).first)
      #expect(row.sender == sample.text && row.subject == text)
      let shown = try OpenMail(head + Array("\nbody\n".utf8)).message.headersText()
      #expect(String(decoding: shown, as: UTF8.self).contains("From: \(sample.text) <a@b.c>\n"))
    }
  }

  @Test func rawFileNamesUseCharsetOfPrecedingText() throws {
    let head = "Content-Type: multipart/mixed; boundary=x\n\n--x\nContent-Type: text/plain; charset=big5\n\na\n--x\n"
    let name =
      Array("Content-Disposition: attachment; filename=\"".utf8) + [0xa7, 0x41, 0xa6, 0x6e] + Array(".txt\"".utf8)
    let mail = try OpenMail(Array(head.utf8) + name + Array("\n\nb\n--x--\n".utf8))
    #expect(mail.message.attachments.map(\.name.text) == ["你好.txt"])
  }

  @Test(arguments: raw.filter { $0.bytes.count > 8 }) func charsetOfUnlabelledTextIsDetected(_ sample: LabelledText)
    throws
  {
    let mail = try OpenMail(Array("Subject: ".utf8) + sample.bytes + [0x0a, 0x0a] + sample.bytes)
    #expect(try mail.body == sample.text)
    #expect(String(decoding: try mail.message.headersText(), as: UTF8.self) == "Subject: \(sample.text)\n")
  }

  private var separator: [UInt8] { Array("From a@b.c Mon May  6 10:00:00 2024\n".utf8) }

  private func scan(_ bytes: [UInt8]) throws -> [MessageRow] {
    var scanner = MailboxScanner(ByteArraySource(bytes))
    var rows: [MessageRow] = []
    while let row = try scanner.next() { rows.append(row) }
    return rows
  }
}
