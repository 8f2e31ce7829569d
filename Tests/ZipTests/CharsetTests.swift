import Bytes
import Foundation
import TestSupport
import Testing
import Zip

/// Names as written by some program, and its charset.
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

  /// Names that a person would recognize, written by a program in `charset`.
  static let truths: [CharsetSample] = [
    CharsetSample(charset: "cp437", names: ["Größe.txt"]),
    CharsetSample(charset: "cp437", names: ["señor.txt"]),
    CharsetSample(charset: "cp437", names: ["façade.pdf"]),
    CharsetSample(charset: "cp437", names: ["½ cup.txt"]),
    CharsetSample(charset: "cp437", names: ["ÉCOLE.TXT"]),
    CharsetSample(charset: "cp437", names: ["Köln.txt", "Düsseldorf.txt"]),
    CharsetSample(charset: "cp437", names: ["20°C.txt"]),
    CharsetSample(charset: "cp437", names: ["ñandú.txt"]),
    CharsetSample(charset: "cp437", names: ["Übung.txt"]),
    CharsetSample(charset: "cp437", names: ["π.txt"]),
    CharsetSample(charset: "cp437", names: ["Fußball.txt"]),
    CharsetSample(charset: "cp437", names: ["Straße/Ärger.txt"]),
    CharsetSample(charset: "cp437", names: ["naïve.txt"]),
    CharsetSample(charset: "cp437", names: ["¿qué.txt"]),
    CharsetSample(charset: "cp437", names: ["5 m².txt"]),
    CharsetSample(charset: "cp437", names: ["Smörgåsbord.txt"]),
    CharsetSample(charset: "cp850", names: ["São Paulo.txt"]),
    CharsetSample(charset: "cp850", names: ["Português.txt"]),
    CharsetSample(charset: "cp850", names: ["MÚSICA.TXT"]),
    CharsetSample(charset: "cp850", names: ["Århus på kort.txt"]),
    CharsetSample(charset: "cp850", names: ["Ação.txt"]),
    CharsetSample(charset: "cp850", names: ["Où.txt", "Forêt.txt"]),
    CharsetSample(charset: "cp1252", names: ["Übung.txt"]),
    CharsetSample(charset: "cp1252", names: ["café.txt"]),
    CharsetSample(charset: "cp1252", names: ["Ação.txt"]),
    CharsetSample(charset: "cp1252", names: ["señor.txt"]),
    CharsetSample(charset: "cp1252", names: ["5 €.txt"]),
    CharsetSample(charset: "cp1252", names: ["résumé.doc"]),
    CharsetSample(charset: "cp1252", names: ["Fußball.txt"]),
    CharsetSample(charset: "cp1252", names: ["Año Nuevo.txt"]),
    CharsetSample(charset: "cp1252", names: ["Bjørn på ferie.jpg"]),
    CharsetSample(charset: "cp1252", names: ["L’été.txt"]),
    CharsetSample(charset: "cp1251", names: ["Документ.doc"]),
    CharsetSample(charset: "cp1251", names: ["ПРИВЕТ.TXT"]),
    CharsetSample(charset: "cp1251", names: ["Київ.txt"]),
    CharsetSample(charset: "cp1251", names: ["Фото с дачи.jpg"]),
    CharsetSample(charset: "cp1251", names: ["Книга № 5.txt"]),
    CharsetSample(charset: "cp1251", names: ["Беларусь.txt"]),
    CharsetSample(charset: "cp866", names: ["Привет.txt"]),
    CharsetSample(charset: "cp866", names: ["Отчёт 2020.xls"]),
    CharsetSample(charset: "cp866", names: ["рсту.txt"]),
    CharsetSample(charset: "cp866", names: ["Я.txt"]),
    CharsetSample(charset: "cp866", names: ["Договор.doc", "Приложение.doc"]),
    CharsetSample(charset: "cp866", names: ["ДОГОВОР.DOC"]),
    CharsetSample(charset: "cp932", names: ["テスト.txt"]),
    CharsetSample(charset: "cp932", names: ["写真.jpg"]),
    CharsetSample(charset: "cp932", names: ["ひらがな.txt"]),
    CharsetSample(charset: "cp932", names: ["資料ー第2回.txt"]),
    CharsetSample(charset: "cp932", names: ["ﾃｽﾄ.txt"]),
    CharsetSample(charset: "gb18030", names: ["测试文件.doc"]),
    CharsetSample(charset: "gb18030", names: ["北京2008.jpg"]),
    CharsetSample(charset: "cp949", names: ["한국어.txt"]),
    CharsetSample(charset: "cp949", names: ["새 문서.txt"]),
    CharsetSample(charset: "cp950", names: ["測試檔案.doc"]),
    CharsetSample(charset: "cp950", names: ["台灣大學.txt"]),
    CharsetSample(charset: "cp852", names: ["Łódź.txt"]),
    CharsetSample(charset: "cp852", names: ["Žluťoučký kůň.txt"]),
    CharsetSample(charset: "cp1250", names: ["Žluťoučký kůň.txt"]),
    CharsetSample(charset: "cp1250", names: ["Łódź.txt"]),
    CharsetSample(charset: "cp1253", names: ["Ελλάδα.txt"]),
    CharsetSample(charset: "cp1253", names: ["Νέος φάκελος.txt"]),
    CharsetSample(charset: "cp737", names: ["Ελλάδα.txt"]),
    CharsetSample(charset: "cp737", names: ["ΑΘΗΝΑ.TXT"]),
    CharsetSample(charset: "cp1254", names: ["İstanbul fotoğrafları.jpg"]),
    CharsetSample(charset: "cp857", names: ["Türkçe şarkı.mp3"]),
    CharsetSample(charset: "cp1255", names: ["שלום עולם.txt"]),
    CharsetSample(charset: "cp862", names: ["תמונות של המשפחה.txt"]),
    CharsetSample(charset: "cp1256", names: ["ملف جديد.txt"]),
    CharsetSample(charset: "cp874", names: ["เอกสารใหม่.txt"]),
    CharsetSample(charset: "koi8-r", names: ["Документы за прошлый год.txt"]),
    CharsetSample(charset: "euc_jp", names: ["新しいフォルダ.txt"]),
    CharsetSample(charset: "koi8-u", names: ["Документи за минулий рік.txt"]),
    CharsetSample(charset: "koi8-u", names: ["Київ.txt", "Їжак.txt"]),
    CharsetSample(charset: "koi8-r", names: ["Фотографии с моря.jpg", "Договор.doc"]),
    CharsetSample(charset: "cp861", names: ["Þórður á ferð.txt"]),
    CharsetSample(charset: "cp861", names: ["Íslensk orð.txt", "Ævintýri.txt"]),
    CharsetSample(charset: "cp860", names: ["Relatório de Gestão.doc"]),
    CharsetSample(charset: "cp860", names: ["São Paulo.txt"]),
    CharsetSample(charset: "cp860", names: ["Endereços e informações.txt"]),
    CharsetSample(charset: "cp855", names: ["Документи.txt"]),
    CharsetSample(charset: "cp855", names: ["Новая папка"]),
    CharsetSample(charset: "cp855", names: ["Фотографије са мора.jpg", "Уговор.doc"]),
    CharsetSample(charset: "cp869", names: ["Φωτογραφίες.zip"]),
    CharsetSample(charset: "cp852", names: ["Pénzügyi jelentés.xls", "Szerződés.doc"]),
    CharsetSample(charset: "cp850", names: ["Þórður á ferð.txt"]),
    CharsetSample(charset: "cp437", names: ["Año Nuevo.txt"]),
    CharsetSample(charset: "cp850", names: ["Årsrapport för företaget.doc"]),
    CharsetSample(charset: "cp1252", names: ["Þórður á ferð.txt"]),
  ]

  /// The names encoded by Python.
  func encoded() throws -> [[UInt8]] {
    try names.map { name in
      let code = "import sys; sys.stdout.buffer.write('\(name)'.encode('\(charset.lowercased())'))"
      return try #require(try Python.output(of: code))
    }
  }
}

@Suite(.enabled("needs python3") { StreamName.isPythonThere })
struct CharsetTests {
  private func fixture(_ names: [[UInt8]]) -> ZipFixture { ZipFixture(names.map { ZipFixtureEntry($0) }) }

  private func files(_ archive: ZipArchive) -> [String] {
    archive.lines().filter { $0.hasSuffix(" = ") }.map { String($0.dropLast(3)) }.sorted()
  }

  @Test(arguments: CharsetSample.all) func charsetOfNamesIsDetected(_ sample: CharsetSample) throws {
    #expect(files(try ZipArchive(fixture(sample.encoded()))) == sample.names.sorted())
  }

  @Test(arguments: CharsetSample.truths) func charsetOfFewNamesIsDetected(_ sample: CharsetSample) throws {
    #expect(files(try ZipArchive(fixture(sample.encoded()))) == sample.names.sorted())
  }

  @Test func characterTableIsReadAsCodePage437() throws {
    let names = (0x8...0xf as ClosedRange<UInt8>).map { row in (0...15).map { row << 4 | $0 } }
    #expect(files(try ZipArchive(fixture(names))).contains("ÇüéâäàåçêëèïîìÄÅ"))
  }

  @Test(arguments: CharsetSample.all) func explicitCharsetDecodesNames(_ sample: CharsetSample) throws {
    let archive = try ZipArchive(fixture(sample.encoded()), charset: sample.charset)
    #expect(files(archive) == sample.names.sorted())
  }

  @Test func unambiguousNameDecidesCharsetForAll() throws {
    // By itself, the second one is ambiguous.
    let names = ["Документы и отчёты.txt", "и"]
    let encoded = try CharsetSample(charset: "CP866", names: names).encoded()
    #expect(files(try ZipArchive(fixture(encoded))) == names.sorted())
  }

  @Test func utf8NamesAreKeptBesideOtherCharsets() throws {
    let encoded = try CharsetSample(charset: "CP866", names: ["Привет"]).encoded() + [Array("日本é".utf8)]
    #expect(files(try ZipArchive(fixture(encoded))) == ["Привет", "日本é"].sorted())
    #expect(files(try ZipArchive(fixture(encoded), charset: "CP866")) == ["Привет", "日本é"].sorted())
  }

  @Test func undecodableNamesAreKept() throws {
    let archive = try ZipArchive(fixture([[0x61, 0xff], [0x82, 0xb1]]), charset: "CP932")
    #expect(archive.count == 3)
    #expect(files(archive).contains("こ"))
  }

  @Test func unknownCharsetsAreRejected() {
    #expect(ZipOptions.knows(charset: "CP866"))
    #expect(!ZipOptions.knows(charset: "no-such-thing"))
  }
}
