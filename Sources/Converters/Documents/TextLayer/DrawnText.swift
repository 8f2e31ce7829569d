internal import Catalogue
public import WorkerKit

/// Distinguishes pages that draw text from pages with text only in annotations and form fields, which are still
/// pictures.
public final class DrawnText {
  private let file: PDFFile
  private var tree: PageTree

  /// The maximum depth of nested forms that are searched.
  private static let deepest = 8

  /// - Parameter passwords: candidates for opening the document.
  public init(_ input: JobInput, _ passwords: [[UInt8]]) throws(JobFailure) {
    file = try PDFFile(reading: input, passwords)
    tree = PageTree(file, ObjectCache(of: file))
  }

  /// Returns whether a page with text may draw it itself: it has no annotations, or its contents draw text.
  public func isPossible(onPage index: Int) throws(JobFailure) -> Bool {
    guard let page = try tree.page(at: index), page.text.hasValue(for: "/Annots") else { return true }
    defer { file.releaseObjects() }
    let object = file.object(page.id)
    guard let contents = object["/Contents"] else { return false }
    return (contents.isStream ? [contents] : contents.items).contains { drawsText($0) }
      || formsDrawText(object.inherited("/Resources"), Self.deepest)
  }

  /// Returns whether a stream draws text. Returns `true` if it cannot be decoded.
  private func drawsText(_ stream: PDFObject) -> Bool {
    guard stream.isStream else { return false }
    guard let drawing = stream.decodedData else { return true }
    return drawing.split { $0 <= 0x20 || Self.ends.contains($0) }.contains { word in
      Self.operators.contains { word.elementsEqual($0) }
    }
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
