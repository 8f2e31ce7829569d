internal import CQpdf
internal import Catalogue
internal import Glibc
internal import Pixels
internal import WorkerKit

extension PDFObject {
  var number: Double? {
    var value = 0.0
    return unsafe qpdf_oh_get_value_as_number(file.pdf, handle, &value) != 0 ? value : nil
  }

  var isTrue: Bool {
    var value: QPDF_BOOL = 0
    return unsafe qpdf_oh_get_value_as_bool(file.pdf, handle, &value) != 0 && value != 0
  }

  /// A string's bytes.
  var string: [UInt8]? {
    guard unsafe qpdf_oh_is_string(file.pdf, handle) != 0 else { return nil }
    var count = 0
    let text = unsafe qpdf_oh_get_binary_string_value(file.pdf, handle, &count)
    return unsafe Array(UnsafeRawBufferPointer(start: text, count: count))
  }

  /// A dictionary's keys with their slashes.
  var keys: [String] {
    guard isDictionary else { return [] }
    var keys: [String] = []
    unsafe qpdf_oh_begin_dict_key_iter(file.pdf, handle)
    while unsafe qpdf_oh_dict_more_keys(file.pdf) != 0 {
      if let key = unsafe qpdf_oh_dict_next_key(file.pdf) { keys.append(unsafe String(cString: key)) }
    }
    return keys
  }

  /// Returns a page's value, or the one inherited from the nearest ancestor.
  func inherited(_ key: String) -> PDFObject? {
    var node: PDFObject? = self
    for _ in 0..<PDFObject.highest {
      guard let present = node else { return nil }
      if let value = present[key] { return value }
      node = present["/Parent"]
    }
    return nil
  }

  /// The maximum depth of a page: parents may be cyclic.
  private static var highest: Int { 1000 }

  /// A stream's dictionary. For any other object, the object itself.
  var dictionary: PDFObject { isStream ? unsafe file.object(qpdf_oh_get_dict(file.pdf, handle)) : self }

  /// A stream's filters in decoding order, each with its parameters.
  var filters: [(name: String, parameters: PDFObject?)] {
    let dictionary = dictionary
    guard let filter = dictionary["/Filter"] else { return [] }
    let parameters = dictionary["/DecodeParms"]
    if let name = filter.name { return [(name, parameters?.isArray == true ? parameters?.items.first : parameters)] }
    return filter.items.enumerated().map { index, item in
      let own = parameters.flatMap { $0.isArray ? (index < $0.count ? $0[index] : nil) : index == 0 ? $0 : nil }
      return (item.name ?? "", own.flatMap { $0.isNull ? nil : $0 })
    }
  }

  /// Whether a stream's bytes can be decoded. libqpdf passes over data that does not match its checksum.
  var isIntact: Bool {
    guard isStream, let first = filters.first else { return true }
    guard first.name == "/FlateDecode" || first.name == "/Fl" else { return decodedData != nil }
    return (try? data()).map { Deflate.isIntact($0, atMost: Self.mostChecked) } ?? false
  }

  /// The maximum size of decoded bytes that are compared with their checksum.
  private static let mostChecked = 64 << 20

  /// Returns a stream's bytes as stored, but decrypted.
  func data() throws(JobFailure) -> [UInt8] {
    var bytes: [UInt8] = []
    try withData { (data) throws(JobFailure) in bytes = unsafe data.withUnsafeBytes { unsafe Array($0) } }
    return bytes
  }

  /// Returns a stream's fully decoded bytes. Returns `nil` if it has an image filter, is damaged, or exceeds `limit`
  /// bytes.
  func plainData(atMost limit: Int) -> [UInt8]? {
    let filters = filters
    if filters.isEmpty { return (try? data()).flatMap { $0.count <= limit ? $0 : nil } }
    if filters.count == 1, filters[0].name == "/FlateDecode", let raw = try? data() {
      let hasParameters = filters[0].parameters != nil
      // A predictor adds a byte per row, and a row has at least one byte.
      switch Deflate.expansion(of: raw, atMost: hasParameters ? 2 * limit + 4096 : limit) {
      case .bytes(let plain): if !hasParameters { return plain }
      case .tooLarge: return nil
      // libqpdf may still recover it, and reports that.
      case .damaged: break
      }
    } else if filters.count(where: { Self.expandingFilters.contains($0.name) }) > 1 {
      // Each one multiplies the expansion of the other.
      return nil
    }
    return decoded.flatMap { $0.count <= limit ? $0 : nil }
  }

  private static let expandingFilters: Set = ["/FlateDecode", "/LZWDecode", "/RunLengthDecode"]

  /// Whether no filter has parameters that demand unbounded memory.
  var hasSaneParameters: Bool {
    filters.allSatisfy { filter in
      guard let parameters = filter.parameters, parameters.isDictionary else { return true }
      func isWithin(_ key: String, _ range: ClosedRange<Int>) -> Bool {
        parameters[key].map { $0.integer.map(range.contains) ?? false } ?? true
      }
      // Fax filters are decoded elsewhere, where their columns are checked.
      return isWithin("/Colors", 1...32) && isWithin("/Columns", 0...1 << 24)
        && isWithin("/BitsPerComponent", 1...16)
        && [1, 2, 4, 8, 16].contains(parameters["/BitsPerComponent"]?.integer ?? 8)
    }
  }

  /// A stream's bytes decoded by libqpdf.
  private var decoded: [UInt8]? {
    guard hasSaneParameters else { return nil }
    var data: UnsafeMutablePointer<UInt8>?
    var count = 0
    var isFiltered: QPDF_BOOL = 0
    let status = unsafe qpdf_oh_get_stream_data(
      file.pdf, handle, qpdf_dl_specialized, &isFiltered, &data, &count)
    defer { unsafe free(data) }
    guard (try? file.check(status)) != nil, isFiltered != 0 else { return nil }
    return unsafe Array(UnsafeBufferPointer(start: data, count: count))
  }

  /// Returns a stream's bytes with all filters undone but the last, which is the image encoding.
  func dataBeforeLastFilter() -> [UInt8]? {
    let filters = filters
    guard let raw = try? data() else { return nil }
    if filters.count <= 1 { return raw }
    let copy = unsafe file.object(qpdf_oh_new_stream(file.pdf))
    let names = filters.dropLast().map(\.name).joined(separator: " ")
    let parameters = filters.dropLast().map {
      $0.parameters.map { String(decoding: $0.ownText, as: UTF8.self) } ?? "null"
    }
    let (filter, rest) = unsafe (
      qpdf_oh_parse(file.pdf, "[\(names)]"), qpdf_oh_parse(file.pdf, "[\(parameters.joined(separator: " "))]")
    )
    guard (try? file.checkErrors()) != nil else { return nil }
    unsafe qpdf_oh_replace_stream_data(file.pdf, copy.handle, raw, raw.count, filter, rest)
    return copy.decoded
  }
}
