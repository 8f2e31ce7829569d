internal import CPopplerText
internal import Catalogue
internal import Documents
internal import Glibc
public import WorkerKit

/// An open PDF as read by poppler: the text of its pages.
@safe public final class ReadDocument {
  let document: OpaquePointer
  /// The owner of the bytes.
  private let holder: AnyObject
  /// Examines pages for what poppler passes over.
  let examined: ExaminedDocument
  /// Whether a part of the contents of the last page that was read could not be decoded.
  public private(set) var isIncomplete = false

  /// Loads files that reading needs and that a worker cannot open later. Returns false on failure.
  public static func prepare() -> Bool { ffconvert_text_prepare() == 0 }

  /// - Parameter password: the password that opens the document. Nil if it needs none.
  private init(
    _ bytes: UnsafeRawBufferPointer, of holder: AnyObject, _ password: [UInt8]?, _ examined: ExaminedDocument
  ) throws(JobFailure) {
    self.holder = holder
    self.examined = examined
    guard let count = Int32(exactly: bytes.count) else { throw JobFailure(.limit, "is too large to be read") }
    let password = (password ?? []).map { CChar(bitPattern: $0) } + [0]
    var refusal = FFCONVERT_TEXT_UNREADABLE
    let document = unsafe ffconvert_text_open(
      bytes.assumingMemoryBound(to: CChar.self).baseAddress, count, password, &refusal)
    guard let document = unsafe document else {
      switch refusal {
      case FFCONVERT_TEXT_LOCKED: throw JobFailure.locked
      case FFCONVERT_TEXT_FORBIDDEN:
        throw JobFailure(
          .locked, "allows no text extraction without its owner's password (-o password_file=FILE)")
      default: throw JobFailure(.damaged, "is not a readable PDF")
      }
    }
    unsafe self.document = document
  }

  /// Opens a document, or a repaired copy of one in which poppler finds no page.
  ///
  /// - Parameter passwords: candidates for opening it.
  public static func open(_ input: JobInput, among passwords: [[UInt8]]) throws(JobFailure) -> ReadDocument {
    try unsafe ExaminedDocument.open(input, among: passwords, by: ReadDocument.init, isReadable: \.isReadable)
  }

  deinit { unsafe ffconvert_text_close(document) }

  /// The number of pages. 0 if they cannot be found.
  public var pageCount: Int { unsafe max(0, Int(ffconvert_text_page_count(document))) + examined.lostCount }

  /// Whether the document has pages and the first one can be read.
  private var isReadable: Bool { pageCount > 0 && (try? unsafe withFoundText(ofPage: 0) { _ in }) != nil }

  /// Calls `body` with the text of a page in reading order, in UTF-8, terminated by a form feed. Throws if the page cannot be
  /// read, or if a damaged document has lost its contents.
  ///
  /// - Parameter index: from 0.
  public func withText(
    ofPage index: Int, _ body: (UnsafeRawBufferPointer) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    try noteDamage(ofPage: index)
    try unsafe withFoundText(ofPage: index, body)
  }

  /// Calls `body` with the text that poppler finds, whether or not the page is damaged.
  private func withFoundText(
    ofPage index: Int, _ body: (UnsafeRawBufferPointer) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    var count = 0
    guard let text = unsafe try ffconvert_text_of_page(document, examined.place(of: index), &count) else {
      throw ExaminedDocument.unreadable(index)
    }
    defer { unsafe free(text) }
    if count <= 1, isIncomplete { throw ExaminedDocument.unreadable(index) }
    try unsafe body(UnsafeRawBufferPointer(start: text, count: count))
  }

  /// Writes the text of all pages. A page that cannot be read is empty.
  ///
  /// - Returns: A remark on such pages. Empty if there are none.
  public func write(to output: JobOutput) throws(JobFailure) -> String {
    var pages = UnreadablePages()
    for index in 0..<pageCount {
      let page = try pages.read(index) { () throws(JobFailure) in try text(ofPage: index) } ?? [0xC]
      if isIncomplete { pages.noteIncomplete(index) }
      try unsafe output.write(page.span.bytes)
    }
    return try pages.remark()
  }

  /// Returns whether a page with text may draw it itself, and has it not only in annotations and form fields.
  ///
  /// - Parameter index: from 0.
  public func mayDrawText(onPage index: Int) -> Bool { examined.mayDrawText(onPage: index) }

  /// Notes whether a page was read completely. Throws if its contents are lost.
  func noteDamage(ofPage index: Int) throws(JobFailure) {
    // Poppler shows lost contents as nothing, and passes over the rest of contents that it cannot decode.
    isIncomplete = try !examined.isWhole(page: index)
  }

  /// Returns the text of a page in reading order, in UTF-8, terminated by a form feed.
  private func text(ofPage index: Int) throws(JobFailure) -> [UInt8] {
    var text: [UInt8] = []
    try unsafe withText(ofPage: index) { (bytes) throws(JobFailure) in text = unsafe Array(bytes) }
    return text
  }
}
