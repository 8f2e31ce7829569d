internal import CPopplerText
internal import Catalogue
internal import Glibc
public import WorkerKit

/// An open PDF as read by poppler: the text of its pages.
@safe public final class ReadDocument {
  let document: OpaquePointer
  private let input: JobInput

  /// Loads files that reading needs and that a worker cannot open later. Returns false on failure.
  public static func prepare() -> Bool { ffconvert_text_prepare() == 0 }

  /// - Parameter password: the one that opens the document; nil if it needs none.
  public init(_ input: JobInput, _ password: [UInt8]? = nil) throws(JobFailure) {
    self.input = input
    guard let count = Int32(exactly: input.count) else { throw JobFailure(.limit, "is too large to be read") }
    let password = (password ?? []).map { CChar(bitPattern: $0) } + [0]
    var refusal = FFCONVERT_TEXT_UNREADABLE
    let document = unsafe ffconvert_text_open(
      input.bytes.assumingMemoryBound(to: CChar.self).baseAddress, count, password, &refusal)
    guard let document = unsafe document else {
      switch refusal {
      case FFCONVERT_TEXT_LOCKED: throw JobFailure.locked
      case FFCONVERT_TEXT_FORBIDDEN:
        throw JobFailure(
          .locked, "lets nobody take text out of it who has not its owner's password (-o password_file=FILE)")
      default: throw JobFailure(.damaged, "is no readable PDF")
      }
    }
    unsafe self.document = document
  }

  deinit { unsafe ffconvert_text_close(document) }

  /// The number of its pages; 0 if they cannot be found.
  public var pageCount: Int { unsafe max(0, Int(ffconvert_text_page_count(document))) }

  /// Calls `body` with the text of a page in reading order, in UTF-8, terminated by a form feed.
  ///
  /// - Parameter index: from 0.
  public func withText(
    ofPage index: Int, _ body: (UnsafeRawBufferPointer) throws(JobFailure) -> Void
  ) throws(JobFailure) {
    var count = 0
    guard let text = unsafe ffconvert_text_of_page(document, Int32(clamping: index), &count) else {
      throw JobFailure(.damaged, "has no readable page \(index + 1)")
    }
    defer { unsafe free(text) }
    try unsafe body(UnsafeRawBufferPointer(start: text, count: count))
  }

  /// Writes the text of all pages.
  public func write(to output: JobOutput) throws(JobFailure) {
    let count = pageCount
    guard count > 0 else { throw JobFailure(.damaged, "has no readable pages") }
    for index in 0..<count {
      try unsafe withText(ofPage: index) { (text) throws(JobFailure) in try unsafe output.write(text.bytes) }
    }
  }
}
