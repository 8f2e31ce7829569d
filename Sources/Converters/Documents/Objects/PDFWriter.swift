internal import Bytes
internal import Catalogue
internal import WorkerKit

/// Writes a new PDF: objects in any order, then their cross-references.
final class PDFWriter {
  private let output: any DocumentSink
  private var pending: [UInt8]
  /// The number of bytes passed to the output.
  private var written = 0
  /// The offset of each object, by its number minus one.
  private var places: [Int] = []
  private var hash = StableHash()
  private let protection: Protection?

  /// - Parameters:
  ///   - version: the PDF version, as in `%PDF-1.7`.
  ///   - protection: the document's encryption. Nil if it is not encrypted.
  init(to output: any DocumentSink, version: String, _ protection: Protection? = nil) {
    self.output = output
    self.protection = protection
    // Four bytes above 127, so that the file is recognized as binary.
    pending = Array("%PDF-\(version)\n%".utf8) + [0xE2, 0xE3, 0xCF, 0xD3, 0x0A]
  }

  /// Returns a number for an object that must be written before the end.
  func reserve() -> Int {
    places.append(0)
    return places.count
  }

  func write(_ number: Int, _ text: [UInt8]) throws(JobFailure) {
    try writePlain(number, protection?.encrypted(text, of: number) ?? text)
  }

  private func writePlain(_ number: Int, _ text: [UInt8]) throws(JobFailure) {
    begin(number)
    pending += text
    try end()
  }

  /// - Parameter dictionary: the stream's dictionary without its `/Length`.
  func write(
    _ number: Int, dictionary: [UInt8], stream: RawSpan
  ) throws(JobFailure) {
    guard let protection else { return try writePlain(number, dictionary: dictionary, stream: stream) }
    let data = protection.encrypted(stream, of: number, ObjectText(dictionary))
    let dictionary = protection.encrypted(dictionary, of: number)
    guard let data else { return try writePlain(number, dictionary: dictionary, stream: stream) }
    try unsafe writePlain(number, dictionary: dictionary, stream: data.span.bytes)
  }

  private func writePlain(_ number: Int, dictionary: [UInt8], stream: RawSpan) throws(JobFailure) {
    begin(number)
    pending += dictionary[..<(dictionary.count - 2)]
    pending += "/Length ".utf8
    pending.append(decimal: stream.byteCount)
    pending += " >>\nstream\n".utf8
    if stream.byteCount > PDFWriter.enough {
      try flush()
      hash.combine(long: stream)
      try output.write(stream)
      written += stream.byteCount
    } else {
      unsafe stream.withUnsafeBytes { unsafe pending.append(contentsOf: $0) }
    }
    pending += "\nendstream".utf8
    try end()
  }

  /// Writes the cross-reference table. The identifier is derived from the bytes written before.
  ///
  /// - Parameters:
  ///   - information: the number of the document's information dictionary.
  ///   - own: its first identifier. Nil if it has none.
  func finish(catalog: Int, information: Int? = nil, id own: [UInt8]? = nil) throws(JobFailure) {
    var entries = information.map { " /Info \($0) 0 R" } ?? ""
    entries += try writeProtection()
    let start = written + pending.count
    pending += "xref\n0 \(places.count + 1)\n0000000000 65535 f \n".utf8
    for place in places {
      pending.append(decimal: place, digits: 10)
      pending += " 00000 n \n".utf8
    }
    let id = identifier()
    pending += Array(
      """
      trailer
      << /Size \(places.count + 1) /Root \(catalog) 0 R\(entries) /ID [<\(first(own, id))> <\(id)>] >>
      startxref
      \(start)
      %%EOF

      """.utf8)
    try flush()
  }

  /// Returns the `/Encrypt` entry of the trailer.
  private func writeProtection() throws(JobFailure) -> String {
    guard let protection else { return "" }
    let number = reserve()
    try writePlain(number, protection.dictionary)
    return " /Encrypt \(number) 0 R"
  }

  /// Returns the document's first identifier, in hexadecimal digits: its own, or the one that its encryption key was
  /// derived from. Returns the second identifier if it has neither.
  private func first(_ own: [UInt8]?, _ id: String) -> String {
    if let own { return String(decoding: ObjectText.hexadecimal(own).dropFirst().dropLast(), as: UTF8.self) }
    return protection.map { String(decoding: ObjectText.hexadecimal($0.id).dropFirst().dropLast(), as: UTF8.self) }
      ?? id
  }

  /// Whether strings are protected as well in an object stream as elsewhere.
  var canPack: Bool { protection.map { $0.streams != .none || $0.strings == .none } ?? true }

  /// The position of an object in an object stream.
  struct Packing {
    let stream: Int
    let index: Int
  }

  /// Writes a cross-reference stream instead of a table (PDF 32000-1, 7.5.8).
  ///
  /// - Parameters:
  ///   - information: the number of the document's information dictionary.
  ///   - id: its first identifier. Nil if it is the same as the second.
  ///   - packed: the objects in object streams, by their number.
  ///   - compress: applies PNG predictors and zlib to a table with the given row size.
  func finish(
    catalog: Int, information: Int?, id: [UInt8]?, _ packed: [Int: Packing], compress: ([UInt8], Int) -> [UInt8]
  ) throws(JobFailure) {
    let entries = try writeProtection()
    let number = reserve()
    let start = written + pending.count
    places[number - 1] = start
    let width = max(2, (64 - max(start, places.count).leadingZeroBitCount + 7) / 8)
    var table = [UInt8](repeating: 0, count: width + 3)
    table[width + 1] = 0xFF
    table[width + 2] = 0xFF
    for (index, place) in places.enumerated() {
      let packing = packed[index + 1]
      table.append(packing != nil ? 2 : 1)
      table += [UInt8](bigEndian: packing?.stream ?? place, count: width)
      table += [UInt8](bigEndian: packing?.index ?? 0, count: 2)
    }
    let second = identifier()
    let first = first(id, second)
    var dictionary = Array(
      """
      << /Type /XRef /Size \(places.count + 1) /W [1 \(width) 2] /Root \(catalog) 0 R\(entries) /ID [<\(first)><\(second)>] \
      /Filter /FlateDecode /DecodeParms << /Predictor 15 /Columns \(width + 3) >>
      """.utf8)
    if let information { dictionary += Array(" /Info \(information) 0 R".utf8) }
    let data = compress(table, width + 3)
    try unsafe writePlain(number, dictionary: dictionary + Array(" >>".utf8), stream: data.span.bytes)
    pending += Array("startxref\n\(start)\n%%EOF\n".utf8)
    try flush()
  }

  /// A state of the document that `restore` returns to.
  struct Mark {
    fileprivate let written: Int
    fileprivate let pending: [UInt8]
    fileprivate let count: Int
    fileprivate let hash: StableHash
  }

  var mark: Mark { Mark(written: written, pending: pending, count: places.count, hash: hash) }

  /// Removes everything written or reserved since `mark`, after an error.
  ///
  /// - Throws: the reason why the output cannot be written, if that is the cause of the error.
  func restore(_ mark: Mark) throws(JobFailure) {
    try output.reasonForFailure()
    try output.truncate(to: mark.written)
    (written, pending, hash) = (mark.written, mark.pending, mark.hash)
    places.removeLast(places.count - mark.count)
  }

  /// Returns 32 hexadecimal digits derived from the written bytes.
  private func identifier() -> String {
    let digits = String(sumOfAll().value, radix: 16)
    return String(repeating: "0", count: 32 - digits.count) + digits
  }

  /// The size of the buffer at which it is written.
  private static let enough = 1 << 18

  private func begin(_ number: Int) {
    places[number - 1] = written + pending.count
    pending.append(decimal: number)
    pending += " 0 obj\n".utf8
  }

  private func end() throws(JobFailure) {
    pending += "\nendobj\n".utf8
    if pending.count > PDFWriter.enough { try flush() }
  }

  private func flush() throws(JobFailure) {
    hash = sumOfAll()
    let bytes = pending
    pending = []
    try unsafe output.write(bytes.span.bytes)
    written += bytes.count
  }

  /// Returns the hash of the written and the pending bytes.
  private func sumOfAll() -> StableHash {
    var sum = hash
    let bytes = pending
    unsafe sum.combine(long: bytes.span.bytes)
    return sum
  }
}

extension [UInt8] {
  /// Appends a nonnegative number, padded with zeros to a number of digits.
  mutating func append(decimal number: Int, digits: Int = 1) {
    let start = count
    var rest = number
    repeat {
      append(0x30 + UInt8(rest % 10))
      rest /= 10
    } while rest > 0 || count - start < digits
    self[start...].reverse()
  }
}
