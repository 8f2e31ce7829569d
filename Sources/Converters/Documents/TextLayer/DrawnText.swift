/// Distinguishes pages that draw text from pages with text only in annotations and form fields, which are still
/// pictures.
struct DrawnText {
  private let file: PDFFile

  /// The maximum depth of nested forms that are searched.
  private static let deepest = 8

  init(of file: PDFFile) { self.file = file }

  /// Returns whether a page with text may draw it itself: it has no annotations, or its contents draw text.
  func isPossible(on page: PageTree.Page) -> Bool {
    guard page.text.hasValue(for: "/Annots") else { return true }
    let object = file.object(page.id)
    guard let contents = object["/Contents"] else { return false }
    return (contents.isStream ? [contents] : contents.items).contains { drawsText($0) }
      || formsDrawText(object.inherited("/Resources"), Self.deepest)
  }

  /// Returns whether a stream draws text. Returns `true` if it cannot be decoded.
  private func drawsText(_ stream: PDFObject) -> Bool {
    guard stream.isStream else { return false }
    guard let drawing = stream.decodedData else { return true }
    var start = 0
    for end in 0...drawing.count where end == drawing.count || drawing[end] <= 0x20 || Self.ends.contains(drawing[end])
    {
      let word = drawing[start..<end]
      if word.count < 3, Self.operators.contains(where: { word.elementsEqual($0) }) { return true }
      start = end + 1
    }
    return false
  }

  private static let operators = ["Tj", "TJ", "'", "\""].map { Array($0.utf8) }
  /// The bytes that end strings and arrays of strings.
  private static let ends = Array(")>]".utf8)

  private func formsDrawText(_ resources: PDFObject?, _ depth: Int) -> Bool {
    guard depth > 0, let drawn = resources?["/XObject"] else { return false }
    return drawn.keys.contains { name in
      guard let form = drawn[name], form.isStream, form.dictionary["/Subtype"]?.name == "/Form" else { return false }
      return drawsText(form) || formsDrawText(form.dictionary["/Resources"], depth - 1)
    }
  }
}
