internal import Catalogue
internal import Documents
internal import Images
internal import Pixels
internal import Recognition
internal import Rendering
internal import WorkerKit

/// A PDF of which some pages have text and others pictures of it.
struct ScannedDocument {
  private let read: ReadDocument
  private let rendered: RenderedDocument
  /// nil where that cannot be told.
  private let drawn: DrawnText?

  init(_ input: JobInput, _ passwords: [[UInt8]]) throws(JobFailure) {
    let password = Passphrase.opening(input, among: passwords)
    read = try ReadDocument(input, password)
    rendered = try RenderedDocument(input, password)
    drawn = try? DrawnText(input, passwords)
  }

  var pageCount: Int { read.pageCount }

  /// Whether a page has text of its own, even if that is not to be seen; not only in notes and form fields.
  func hasText(_ index: Int) throws(JobFailure) -> Bool {
    var isThere = false
    try unsafe read.withText(ofPage: index) { (text) throws(JobFailure) in isThere = unsafe text.contains { $0 > 0x20 }
    }
    guard isThere, let drawn else { return isThere }
    return try drawn.isPossible(onPage: index)
  }

  /// Writes a page's own text; gives whether it has any.
  func writeText(ofPage index: Int, to output: JobOutput) throws(JobFailure) -> Bool {
    guard try hasText(index) else { return false }
    try unsafe read.withText(ofPage: index) { (text) throws(JobFailure) in try unsafe output.write(text.bytes) }
    return true
  }

  func recognize(
    _ index: Int, _ languages: ReadingLanguages, _ recognizer: Recognizer
  ) throws(JobFailure) -> RecognizedPage {
    let page = try PagedInput.page(index, of: rendered)
    return try recognizer.recognize(page.samples, density: page.density, in: languages)
  }
}
