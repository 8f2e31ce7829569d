internal import Bytes
internal import JobFiles

/// Writes a PDF from its first object on: objects in any order, then where each of them is.
final class PDFWriter {
  private let output: JobOutput
  private var pending: [UInt8]
  /// How many bytes have gone to the output.
  private var written = 0
  /// Where each object starts, by its number less one.
  private var places: [Int] = []
  private var hash = StableHash()

  /// - Parameter version: as in `%PDF-1.7`.
  init(to output: JobOutput, version: String) {
    self.output = output
    // Four bytes that are no text, so that nobody takes the file for such.
    pending = Array("%PDF-\(version)\n%".utf8) + [0xE2, 0xE3, 0xCF, 0xD3, 0x0A]
  }

  /// A number for an object that is written later.
  func reserve() -> Int {
    places.append(0)
    return places.count
  }

  func write(_ number: Int, _ text: [UInt8]) throws(JobFailure) {
    begin(number)
    pending += text
    try end()
  }

  /// - Parameter dictionary: without its `/Length`.
  func write(
    _ number: Int, dictionary: [UInt8], stream: RawSpan
  ) throws(JobFailure) {
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

  /// The same bytes before make the same identifier.
  func finish(catalog: Int) throws(JobFailure) {
    let start = written + pending.count
    pending += "xref\n0 \(places.count + 1)\n0000000000 65535 f \n".utf8
    for place in places {
      pending.append(decimal: place, digits: 10)
      pending += " 00000 n \n".utf8
    }
    let hash = sumOfAll()
    let digits = String(hash.value, radix: 16)
    let id = String(repeating: "0", count: 32 - digits.count) + digits
    pending += Array(
      """
      trailer
      << /Size \(places.count + 1) /Root \(catalog) 0 R /ID [<\(id)> <\(id)>] >>
      startxref
      \(start)
      %%EOF

      """.utf8)
    try flush()
  }

  /// So much is written at once.
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

  /// The hash of what was written and what is pending.
  private func sumOfAll() -> StableHash {
    var sum = hash
    let bytes = pending
    unsafe sum.combine(long: bytes.span.bytes)
    return sum
  }
}

extension [UInt8] {
  /// Appends a number that is not negative, with zeros before it up to so many digits.
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
