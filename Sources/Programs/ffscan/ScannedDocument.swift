internal import Images
internal import Pixels
internal import Rendering
internal import WorkerKit

/// A PDF in which some pages have text and others have pictures of text.
final class ScannedDocument {
  private let read: ReadDocument
  private let rendered: RenderedDocument

  init(_ input: JobInput, _ passwords: [[UInt8]]) throws(JobFailure) {
    read = try ReadDocument.open(input, among: passwords)
    rendered = try RenderedDocument.open(input, among: passwords)
  }

  var pageCount: Int { read.pageCount }

  /// Whether a part of the contents of the last page whose text was read could not be decoded.
  var isIncomplete: Bool { read.isIncomplete }

  /// Returns a page's own text, visible or not, ended by a form feed. Returns `nil` if the page shows something but has
  /// no text, or only in notes and form fields.
  func text(ofPage index: Int) throws(JobFailure) -> [UInt8]? {
    var text: [UInt8] = []
    try unsafe read.withText(ofPage: index) { (bytes) throws(JobFailure) in text = unsafe Array(bytes) }
    guard text.contains(where: { $0 > 0x20 }) else { return rendered.isBlank(page: index) ? [0xC] : nil }
    return read.mayDrawText(onPage: index) ? text : nil
  }

  /// Returns a page as it is shown.
  func picture(ofPage index: Int) throws(JobFailure) -> PagePixels { try PagedInput.page(index, of: rendered) }
}
