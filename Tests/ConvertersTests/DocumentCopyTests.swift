import Foundation
import Pixels
import Testing

@testable import Documents

/// Copies of documents and additions to them, object by object.
@Suite struct DocumentCopyTests {
  /// No image is changed.
  private struct NoLibrary: ImageLibrary {
    func resized(_ samples: Samples, to width: Int, _ height: Int) -> Samples? { nil }
    func samples(jpeg2000 bytes: [UInt8]) -> Samples? { nil }
    func samples(fax bytes: [UInt8], width: Int, height: Int) -> Samples? { nil }
  }

  private func copy(_ text: String) throws -> PDFFile {
    let file = try PDFFile(reading: MadePDF.input(text.utf8))
    let deflate = try #require(Deflate(level: 6))
    var tree = PageTree(file, ObjectCache(of: file))
    let coder = StreamCoder(
      deflate: deflate, images: ImageRecoder(resolution: 150, quality: 75, deflate: deflate, library: NoLibrary()),
      placements: try ImagePlacements(on: &tree, of: file))
    let bytes = try MadePDF.output { output in
      var copy = try CompressedCopy(of: file, coder, to: output)
      try copy.write()
    }
    return try PDFFile(reading: MadePDF.input(bytes))
  }

  /// The objects of one page, whose forms `A` and `B` have these entries.
  private func forms(_ a: String, _ b: String) -> [String] {
    func form(_ entries: String) -> String {
      MadePDF.stream("/Type/XObject/Subtype/Form/BBox[0 0 9 9]\(entries)", "0 0 9 9 re f")
    }
    return [
      "<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 99 99]>>",
      "<</Type/Page/Parent 2 0 R/Contents 6 0 R/Resources<</XObject<</A 4 0 R/B 5 0 R>>>>>>",
      form(a), form(b), MadePDF.stream("", "/A Do /B Do"),
    ]
  }

  /// Equal objects become one, also if they refer to themselves and each other; each reference leads to an object.
  @Test(
    arguments: [
      ("", "", true), ("/X 4 0 R", "/X 4 0 R", true), ("/X 4 0 R", "/X 5 0 R", false),
      ("/X 4 0 R/Y 5 0 R", "/X 4 0 R/Y 5 0 R", nil), ("/X 5 0 R", "/X 4 0 R", nil),
      ("/Y 5 0 R/X 4 0 R", "/Y 5 0 R/X 4 0 R", nil),
    ] as [(String, String, Bool?)])
  func referencesOfCopyLeadToObjects(_ a: String, _ b: String, _ isOne: Bool?) throws {
    let file = try copy(MadePDF.text(forms(a, b)))
    #expect(!file.isDamaged && !file.isRecovered)
    let page = try #require(file.root["/Pages"]?["/Kids"]?.items.first)
    let resources = try #require(page["/Resources"]?["/XObject"])
    for (name, entries) in [("/A", a), ("/B", b)] {
      let form = try #require(resources[name])
      #expect(form.isStream)
      for key in ["/X", "/Y"] where entries.contains(key) {
        let other = form.dictionary[key]
        #expect(other?.isStream == true, "\(name)\(key) of \(a)")
        if entries.contains("/X") { #expect(other?.dictionary["/X"]?.isStream == true, "\(name)\(key)/X of \(a)") }
      }
    }
    if let isOne { #expect((resources["/A"]?.id == resources["/B"]?.id) == isOne) }
  }

  /// The rectangle around the corners of the box, however the matrix turns and slants it, becomes that of the annotation.
  @Test(arguments: [
    [1, 0, 0, 1], [2, 0, 0, 3], [0, 1, -1, 0], [0, -2, 2, 0], [-1, 0, 0, -1], [1, 0, 1, 1], [1, 1, 0, 1],
    [1, 2, -3, 4],
    [0.8, 0.6, -0.6, 0.8],
  ])
  func appearanceFillsItsRectangle(_ entries: [Double]) throws {
    let text = MadePDF.text(["<</Type/Catalog/Box[5 7 15 27]/Rect[100 200 130 240]>>"])
    let root = try PDFFile(reading: MadePDF.input(text.utf8)).root
    let matrix = Matrix(a: entries[0], b: entries[1], c: entries[2], d: entries[3])
    let corners = [(5.0, 7.0), (5, 27), (15, 7), (15, 27)].map { x, y in
      (x * matrix.a + y * matrix.c, x * matrix.b + y * matrix.d)
    }
    func extent(_ values: [Double]) -> Double { (values.max() ?? 0) - (values.min() ?? 0) }
    let made = try #require(Matrix(from: root["/Box"], by: matrix, to: root["/Rect"]))
    #expect(abs(made.a * extent(corners.map(\.0)) - 30) < 1e-9 && made.b == 0)
    #expect(abs(made.d * extent(corners.map(\.1)) - 40) < 1e-9 && made.c == 0)
    #expect(Matrix(from: root["/Box"], by: Matrix(a: 0, d: 0), to: root["/Rect"]) == nil)
  }

  /// The added cross-references do not repeat entries that describe the earlier ones.
  @Test func additionHasNoEntriesOfEarlierReferences() throws {
    // A hybrid file has references for programs that read streams, too (ISO 32000-1, 7.5.8.4).
    let objects = forms("", "")
    let text = MadePDF.text(objects) { start in
      let entries = "/Type/XRef/Size \(objects.count + 1)/Index[0 1]/W[1 4 1]/Filter/ASCIIHexDecode"
      let stream = MadePDF.stream(entries, "000000000000>")
      return ("\(objects.count + 1) 0 obj\n\(stream)\nendobj\n", "/XRefStm \(start)/ID[<31><32>]/Own 7")
    }
    let input = try MadePDF.input(text.utf8)
    let file = try PDFFile(reading: input)
    #expect(!file.isRecovered && file.trailer["/XRefStm"] != nil)
    let bytes = try MadePDF.output { output in
      let update = try #require(try PDFUpdate(to: file, output))
      try update.replace(PDFObject.ID(number: 4, generation: 0), Array("<</Changed true>>".utf8))
      try update.finish()
    }
    #expect(bytes.starts(with: text.utf8))
    let added = String(decoding: bytes.dropFirst(text.utf8.count), as: UTF8.self)
    #expect(added.contains("trailer") && added.contains("/Own 7") && added.contains("<31>"), "\(added)")
    for key in ["/XRefStm", "/Type", "/W", "/Index", "/Filter", "/Length"] { #expect(!added.contains(key), "\(added)") }
    for key in ["/Size", "/Prev", "/ID", "/Root"] { #expect(added.components(separatedBy: key).count == 2, "\(added)") }
    let changed = try PDFFile(reading: MadePDF.input(bytes))
    #expect(!changed.isDamaged && !changed.isRecovered)
    #expect(changed.object(PDFObject.ID(number: 4, generation: 0))["/Changed"] != nil)
  }
}
