import Testing

@testable import Documents

/// The pages of documents and what they inherit.
@Suite struct PageTreeTests {
  /// A document of objects, the first of which is the catalog.
  private func tree<Value>(
    _ objects: [String], hasTable: Bool = true, _ body: (inout PageTree) throws -> Value
  ) throws -> Value {
    let file = try PDFFile(reading: MadePDF.input(MadePDF.text(objects, hasTable: hasTable).utf8))
    var tree = PageTree(file, ObjectCache(of: file))
    return try body(&tree)
  }

  private static let objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R 6 0 R]/Count 3/MediaBox[0 0 1 1]/CropBox[0 0 9 9]/Rotate 90/Resources<</A 1>>>>",
    "<</Type/Pages/Parent 2 0 R/Kids[4 0 R 5 0 R]/Count 2/MediaBox[0 0 2 2]/Rotate null>>",
    "<</Type/Page/Parent 3 0 R/MediaBox[0 0 3 3]>>", "<</Type/Page/Parent 3 0 R>>",
    "<</Type/Page/Parent 2 0 R/Rotate 0>>",
  ]

  /// A valid tree, one that is repaired, and one without cross-references.
  @Test(arguments: [(false, true), (true, true), (false, false)])
  func nearestAncestorIsInherited(_ isWrong: Bool, _ hasTable: Bool) throws {
    var objects = Self.objects
    if isWrong { objects[2] = objects[2].replacing("/Count 2", with: "/Count 7") }
    try tree(objects, hasTable: hasTable) { tree in
      #expect(try tree.count() == 3)
      let pages = try (0..<3).map { try tree.page(at: $0) }
      func inherited(_ page: Int, _ key: String) -> String? {
        pages[page]?.inherited[key].map { String(decoding: $0.bytes, as: UTF8.self).filter { $0 != " " } }
      }
      #expect((0..<3).map { inherited($0, "/MediaBox") } == [nil, "[0022]", "[0011]"])
      #expect((0..<3).map { inherited($0, "/CropBox") } == ["[0099]", "[0099]", "[0099]"])
      #expect((0..<3).map { inherited($0, "/Rotate") } == ["90", "90", nil])
      #expect((0..<3).allSatisfy { inherited($0, "/Resources") == "<</A1>>" })
    }
  }
}
