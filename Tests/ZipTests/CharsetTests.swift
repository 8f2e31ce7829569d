import Bytes
import Foundation
import TestSupport
import Testing
import Zip

/// Names as some program wrote them, and the character set it took.
struct CharsetSample: CustomTestStringConvertible, Sendable {
  let charset: String
  let names: [String]
  var testDescription: String { "\(charset): \(names[0])" }

  static let all: [CharsetSample] = [
    CharsetSample(charset: "CP437", names: ["Müller.txt", "Übersicht.pdf", "garçon.doc"]),
    CharsetSample(charset: "CP437", names: ["Ängström.txt"]),
    CharsetSample(charset: "CP437", names: ["café.txt"]),
    CharsetSample(charset: "CP1252", names: ["Übung.txt", "Größe.txt"]),
    CharsetSample(charset: "CP1252", names: ["résumé.doc", "façade.doc"]),
    CharsetSample(charset: "CP1252", names: ["año.txt"]),
    CharsetSample(charset: "CP866", names: ["Привет.txt"]),
    CharsetSample(charset: "CP866", names: ["Документы/Отчёт за год.doc", "ЧИТАЙ.TXT"]),
    CharsetSample(charset: "CP866", names: ["фото 1.jpg"]),
    CharsetSample(charset: "CP1251", names: ["Привет.txt"]),
    CharsetSample(charset: "CP1251", names: ["Новая папка/Документ.doc", "ЧИТАЙ.TXT"]),
    CharsetSample(charset: "CP932", names: ["日本語.txt"]),
    CharsetSample(charset: "CP932", names: ["新しいフォルダ/テスト.txt", "写真/東京.jpg"]),
    CharsetSample(charset: "CP932", names: ["資料.pdf", "ソース表示.txt"]),
    CharsetSample(charset: "GB18030", names: ["新建文件夹/新建文本文档.txt"]),
    CharsetSample(charset: "GB18030", names: ["中文.txt", "照片.jpg"]),
    CharsetSample(charset: "GB18030", names: ["你好世界.doc"]),
    CharsetSample(charset: "CP949", names: ["새 폴더/한글 문서.txt"]),
    CharsetSample(charset: "CP949", names: ["안녕하세요.txt"]),
  ]

  /// What iconv(1) makes of the names.
  func encoded() throws -> [[UInt8]] {
    try names.map { name in
      let code = "import sys; sys.stdout.buffer.write('\(name)'.encode('\(charset.lowercased())'))"
      return try #require(try Python.output(of: code))
    }
  }
}

@Suite(.enabled("python3 is there") { StreamName.isPythonThere })
struct CharsetTests {
  private func fixture(_ names: [[UInt8]]) -> ZipFixture { ZipFixture(names.map { ZipFixtureEntry($0) }) }

  private func files(_ archive: ZipArchive) -> [String] {
    archive.lines().filter { $0.hasSuffix(" = ") }.map { String($0.dropLast(3)) }.sorted()
  }

  @Test(arguments: CharsetSample.all) func namesAreFoundOut(_ sample: CharsetSample) throws {
    #expect(files(try ZipArchive(fixture(sample.encoded()))) == sample.names.sorted())
  }

  @Test(arguments: CharsetSample.all) func namesAreReadAsToldTo(_ sample: CharsetSample) throws {
    let archive = try ZipArchive(fixture(sample.encoded()), charset: sample.charset)
    #expect(files(archive) == sample.names.sorted())
  }

  @Test func oneNameDecidesForTheOthers() throws {
    // Alone, the second could be anything.
    let names = ["Документы и отчёты.txt", "и"]
    let encoded = try CharsetSample(charset: "CP866", names: names).encoded()
    #expect(files(try ZipArchive(fixture(encoded))) == names.sorted())
  }

  @Test func namesThatAreUTF8StayWhateverTheOthersAre() throws {
    let encoded = try CharsetSample(charset: "CP866", names: ["Привет"]).encoded() + [Array("日本é".utf8)]
    #expect(files(try ZipArchive(fixture(encoded))) == ["Привет", "日本é"].sorted())
    #expect(files(try ZipArchive(fixture(encoded), charset: "CP866")) == ["Привет", "日本é"].sorted())
  }

  @Test func whatACharsetCannotHoldIsKept() throws {
    let archive = try ZipArchive(fixture([[0x61, 0xff], [0x82, 0xb1]]), charset: "CP932")
    #expect(archive.count == 3)
    #expect(files(archive).contains("こ"))
  }

  @Test func unknownCharsetsAreKnownToBe() {
    #expect(ZipOptions.knows(charset: "CP866"))
    #expect(!ZipOptions.knows(charset: "no-such-thing"))
  }
}
