internal import CQpdf
internal import Catalogue
internal import Glibc
internal import WorkerKit

/// An object of a PDF, as a handle. Properties that do not apply to its type are nil or empty.
struct PDFObject {
  /// The number and generation of an indirect object.
  struct ID: Hashable {
    let number: Int32
    let generation: Int32
  }

  let file: PDFFile
  let handle: qpdf_oh

  private var pdf: qpdf_data { unsafe file.pdf }

  var isDictionary: Bool { unsafe qpdf_oh_is_dictionary(pdf, handle) != 0 }
  var isArray: Bool { unsafe qpdf_oh_is_array(pdf, handle) != 0 }
  var isNull: Bool { unsafe qpdf_oh_is_null(pdf, handle) != 0 }
  var isStream: Bool { unsafe qpdf_oh_is_stream(pdf, handle) != 0 }

  /// The number and generation. Nil for a direct object.
  var id: ID? {
    let number = unsafe qpdf_oh_get_object_id(pdf, handle)
    return number == 0 ? nil : unsafe ID(number: number, generation: qpdf_oh_get_generation(pdf, handle))
  }

  /// The value of a dictionary's key. Nil if it is missing or null.
  subscript(key: String) -> PDFObject? {
    guard isDictionary else { return nil }
    let value = unsafe file.object(qpdf_oh_get_key(pdf, handle, key))
    return value.isNull ? nil : value
  }

  var count: Int { isArray ? unsafe Int(qpdf_oh_get_array_n_items(pdf, handle)) : 0 }

  /// The array's item at an index.
  subscript(index: Int) -> PDFObject { unsafe file.object(qpdf_oh_get_array_item(pdf, handle, Int32(index))) }

  var items: [PDFObject] { (0..<count).map { self[$0] } }

  var integer: Int? {
    var value: Int64 = 0
    return unsafe qpdf_oh_get_value_as_longlong(pdf, handle, &value) != 0 ? Int(value) : nil
  }

  /// The name, with its slash.
  var name: String? {
    guard unsafe qpdf_oh_is_name(pdf, handle) != 0 else { return nil }
    return unsafe qpdf_oh_get_name(pdf, handle).map { unsafe String(cString: $0) }
  }

  /// The object in PDF syntax, with references by number. An indirect object yields its reference.
  var text: [UInt8] { unsafe bytes(qpdf_oh_unparse(pdf, handle)) }

  /// The object's own text, even if it is indirect. For a stream, its dictionary's text.
  var ownText: [UInt8] {
    unsafe bytes(qpdf_oh_unparse_resolved(pdf, isStream ? qpdf_oh_get_dict(pdf, handle) : handle))
  }

  private func bytes(_ text: UnsafePointer<CChar>?) -> [UInt8] {
    guard let text = unsafe text else { return [] }
    return unsafe Array(UnsafeRawBufferPointer(start: text, count: strlen(text)))
  }

  /// A stream's decoded bytes. Nil if a filter is not for general data, or if the data is faulty.
  var decodedData: [UInt8]? {
    guard hasSaneParameters else { return nil }
    file.forgetWarnings()
    var data: UnsafeMutablePointer<UInt8>?
    var count = 0
    var isDecoded = QPDF_FALSE
    guard
      unsafe qpdf_oh_get_stream_data(pdf, handle, qpdf_dl_generalized, &isDecoded, &data, &count)
        & QPDF_ERROR_CODE(QPDF_ERRORS) == 0
    else {
      file.forgetErrors()
      return nil
    }
    defer { unsafe free(data) }
    return isDecoded != 0 && !file.isDamaged ? unsafe Array(UnsafeRawBufferPointer(start: data, count: count)) : nil
  }

  /// Calls `body` with a stream's bytes as stored, but decrypted.
  func withData(_ body: (RawSpan) throws(JobFailure) -> Void) throws(JobFailure) {
    var data: UnsafeMutablePointer<UInt8>?
    var count = 0
    try file.check(unsafe qpdf_oh_get_stream_data(pdf, handle, qpdf_dl_none, nil, &data, &count))
    defer { unsafe free(data) }
    try unsafe body(UnsafeRawBufferPointer(start: data, count: count).bytes)
  }
}
