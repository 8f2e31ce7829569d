internal import Bytes
internal import Catalogue
internal import WorkerKit

/// Appends objects to a PDF, whose own bytes stay unchanged (ISO 32000-1, 7.5.6).
final class PDFUpdate: ObjectSink {
  private let file: PDFFile
  private let output: JobOutput
  private let protection: Protection?
  /// The offset of the document's newest cross-references.
  private let previous: Int
  private let isTable: Bool
  private var pending: [UInt8] = [0x0A]
  private var written: Int
  /// The offset and generation of each added object, by number.
  private var places: [Int: (place: Int, generation: Int32)] = [:]
  private var size: Int
  /// The hash of the document and the added bytes.
  private var hash = StableHash()

  /// The maximum number of objects in the document. It leaves room below 8388607, the highest number that readers must
  /// support.
  private static let mostObjects = 8_000_000

  /// Writes the document to the output. Returns `nil`, and writes nothing, if the document cannot be appended to.
  init?(to file: PDFFile, _ output: JobOutput) throws(JobFailure) {
    // Offsets count from the header, which must be at the start here.
    guard unsafe file.bytes.starts(with: "%PDF-".utf8), let previous = CrossReferences.start(file),
      let size = file.trailer["/Size"]?.integer, (1..<Self.mostObjects).contains(size),
      unsafe file.bytes.indices.contains(previous)
    else { return nil }
    self.file = file
    self.output = output
    self.size = size
    self.previous = previous
    protection = try file.protection.get()
    isTable = unsafe file.bytes.dropFirst(previous).prefix(4).elementsEqual("xref".utf8)
    written = unsafe file.bytes.count
    let whole = unsafe file.bytes
    unsafe hash.combine(long: whole.bytes)
    try unsafe output.write(whole.bytes)
  }

  func reserve() -> Int {
    size += 1
    return size - 1
  }

  func write(_ number: Int, _ text: [UInt8]) throws(JobFailure) {
    try writePlain(number, 0, protection?.encrypted(text, of: number) ?? text)
  }

  /// Writes a new version of an object of the document.
  func replace(_ id: PDFObject.ID, _ text: [UInt8]) throws(JobFailure) {
    let (number, generation) = (Int(id.number), id.generation)
    try writePlain(
      number, generation, protection?.encrypted(text, of: number, generation: Int(generation)) ?? text)
  }

  private func writePlain(_ number: Int, _ generation: Int32, _ text: [UInt8]) throws(JobFailure) {
    begin(number, generation)
    pending += text
    try end()
  }

  func write(_ number: Int, dictionary: [UInt8], stream: RawSpan) throws(JobFailure) {
    let coded = protection?.encrypted(stream, of: number, ObjectText(dictionary))
    begin(number, 0)
    pending += (protection?.encrypted(dictionary, of: number) ?? dictionary).dropLast(2)
    pending += "/Length \(coded?.count ?? stream.byteCount) >>\nstream\n".utf8
    if let coded { pending += coded } else { unsafe stream.withUnsafeBytes { unsafe pending.append(contentsOf: $0) } }
    pending += "\nendstream".utf8
    try end()
  }

  private func begin(_ number: Int, _ generation: Int32) {
    places[number] = (written + pending.count, generation)
    pending += "\(number) \(generation) obj\n".utf8
  }

  private func end() throws(JobFailure) {
    pending += "\nendobj\n".utf8
    if pending.count > 1 << 18 { try flush() }
  }

  private func flush() throws(JobFailure) {
    let bytes = pending
    pending = []
    unsafe hash.combine(long: bytes.span.bytes)
    try unsafe output.write(bytes.span.bytes)
    written += bytes.count
  }

  /// Writes the cross-references of the added objects, as a table or a stream like the document's own.
  func finish() throws(JobFailure) {
    try flush()
    let trailer = trailerEntries
    var text: [UInt8]
    let start: Int
    if isTable {
      start = written + pending.count
      text = Array("xref\n".utf8)
      for run in runs {
        text += "\(run.lowerBound) \(run.count)\n".utf8
        for number in run {
          let (place, generation) = places[number] ?? (0, 0)
          text.append(decimal: place, digits: 10)
          text.append(0x20)
          text.append(decimal: Int(generation), digits: 5)
          text += " n \n".utf8
        }
      }
      text += "trailer\n<< /Size \(size) ".utf8 + trailer + Array(" >>\n".utf8)
    } else {
      let number = reserve()
      start = written + pending.count
      places[number] = (start, 0)
      var table: [UInt8] = []
      for run in runs {
        for number in run {
          let (place, generation) = places[number] ?? (0, 0)
          table.append(1)
          table += [UInt8](bigEndian: place, count: 5) + [UInt8](bigEndian: Int(generation), count: 2)
        }
      }
      let index = runs.map { "\($0.lowerBound) \($0.count)" }.joined(separator: " ")
      text =
        Array("\(number) 0 obj\n<< /Type /XRef /Size \(size) /W [1 5 2] /Index [\(index)] ".utf8) + trailer
        + Array(" /Length \(table.count) >>\nstream\n".utf8) + table + Array("\nendstream\nendobj\n".utf8)
    }
    pending += text
    pending += "startxref\n\(start)\n%%EOF\n".utf8
    try flush()
  }

  /// The numbers of the added objects, in runs.
  private var runs: [Range<Int>] {
    places.keys.sorted().reduce(into: []) { runs, number in
      if let last = runs.last, last.upperBound == number {
        runs[runs.count - 1] = last.lowerBound..<(number + 1)
      } else {
        runs.append(number..<(number + 1))
      }
    }
  }

  /// The trailer entries that concern the document and not one table. The second identifier is derived from the bytes.
  private var trailerEntries: [UInt8] {
    let own = [
      "/Size", "/Prev", "/XRefStm", "/ID", "/Type", "/W", "/Index", "/Filter", "/DecodeParms", "/Length", "/DL",
    ]
    let kept = ObjectText(file.trailer.ownText).without(own)
    var text = kept.bytes.dropFirst(2).dropLast(2) + Array(" /Prev \(previous)".utf8)
    if let first = file.trailer["/ID"]?.items.first?.string {
      let second = [UInt8](bigEndian: Int(truncatingIfNeeded: hash.value), count: 8)
      text += " /ID [".utf8 + ObjectText.hexadecimal(first) + ObjectText.hexadecimal(second + second) + Array("]".utf8)
    }
    return Array(text)
  }
}
