internal import CQpdf
internal import Conversion
internal import JobFiles

/// A PDF as libqpdf knows it: objects, not looks.
///
/// Objects are handles of the file they belong to; `releaseObjects` makes all of them void.
@safe final class PDFFile {
  let pdf: qpdf_data
  /// What the objects are read from when they are asked for.
  private let input: JobInput

  /// Reads where everything is. An encrypted document opens when it asks for no password.
  init(reading input: JobInput) throws(JobFailure) {
    guard let pdf = unsafe qpdf_init() else { throw JobFailure.noMemory() }
    unsafe self.pdf = pdf
    self.input = input
    unsafe qpdf_silence_errors(pdf)
    unsafe qpdf_set_suppress_warnings(pdf, QPDF_TRUE)
    let bytes = unsafe input.bytes.assumingMemoryBound(to: CChar.self)
    try unsafe check(qpdf_read_memory(pdf, "input", bytes.baseAddress, UInt64(input.bytes.count), ""))
  }

  deinit {
    var pdf: qpdf_data? = unsafe self.pdf
    unsafe qpdf_cleanup(&pdf)
  }

  /// The whole document, as it is.
  var bytes: UnsafeRawBufferPointer { unsafe input.bytes }

  /// Whether libqpdf had to guess.
  var isDamaged: Bool { unsafe qpdf_more_warnings(pdf) != 0 }

  func check(_ code: QPDF_ERROR_CODE) throws(JobFailure) {
    guard code & QPDF_ERROR_CODE(QPDF_ERRORS) != 0 else { return }
    guard let error = unsafe qpdf_get_error(pdf) else { throw JobFailure(.damaged, "is no readable PDF") }
    let words = unsafe qpdf_get_error_message_detail(pdf, error).map { unsafe String(cString: $0) } ?? ""
    switch unsafe qpdf_get_error_code(pdf, error) {
    case qpdf_e_password: throw JobFailure(.locked, "asks for a password")
    case qpdf_e_unsupported: throw JobFailure(.unsupported, "uses what cannot be read here", saying: words)
    default: throw JobFailure(.damaged, "is no readable PDF", saying: words)
    }
  }

  /// The error that calls without a result left behind, if any.
  func checkErrors() throws(JobFailure) {
    if unsafe qpdf_has_error(pdf) != 0 { try check(QPDF_ERROR_CODE(QPDF_ERRORS)) }
  }

  /// The same for objects that may well be broken.
  func forgetErrors() { _ = unsafe qpdf_has_error(pdf) != 0 ? qpdf_get_error(pdf) : nil }

  /// As in `%PDF-1.7`.
  var version: String { unsafe qpdf_get_pdf_version(pdf).map { unsafe String(cString: $0) } ?? "1.7" }

  /// So that `isDamaged` tells of what comes next.
  func forgetWarnings() { while isDamaged { _ = unsafe qpdf_next_warning(pdf) } }

  func releaseObjects() { unsafe qpdf_oh_release_all(pdf) }

  var root: PDFObject { unsafe PDFObject(file: self, handle: qpdf_get_root(pdf)) }

  func object(_ handle: qpdf_oh) -> PDFObject { PDFObject(file: self, handle: handle) }

  /// null where the file has none of this number.
  func object(_ id: PDFObject.ID) -> PDFObject {
    unsafe object(qpdf_get_object_by_id(pdf, id.number, id.generation))
  }
}
