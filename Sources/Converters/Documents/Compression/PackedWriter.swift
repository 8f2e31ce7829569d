internal import JobFiles
internal import Pixels

/// Writes a PDF whose objects, but for streams, lie together in compressed streams (PDF 32000-1, 7.5.7).
final class PackedWriter {
  private let writer: PDFWriter
  private let deflate: Deflate
  private var waiting: [(number: Int, text: [UInt8])] = []
  private var waitingSize = 0
  private var packed: [Int: PDFWriter.Packing] = [:]

  /// So many go into one stream: readers unpack it for any of them.
  private static let mostTogether = 200
  private static let largest = 1 << 18

  /// - Parameter writer: of a document of such a `version`; what it has written already lies where it is.
  init(_ writer: PDFWriter, _ deflate: Deflate) {
    self.writer = writer
    self.deflate = deflate
  }

  /// A document's version, or the first one that knows streams of objects.
  static func version(_ version: String) -> String {
    let parts = version.split(separator: ".").map { Int($0) ?? 0 }
    return parts.count == 2 && (parts[0], parts[1]) > (1, 5) ? version : "1.5"
  }

  func reserve() -> Int { writer.reserve() }

  /// Takes an object that is no stream.
  func write(_ number: Int, _ text: [UInt8]) throws(JobFailure) {
    guard writer.canPack else { return try writer.write(number, text) }
    waiting.append((number, text))
    waitingSize += text.count
    if waiting.count >= Self.mostTogether || waitingSize >= Self.largest { try pack() }
  }

  func write(_ number: Int, dictionary: [UInt8], stream: [UInt8]) throws(JobFailure) {
    try unsafe writer.write(number, dictionary: dictionary, stream: stream.span.bytes)
  }

  private func pack() throws(JobFailure) {
    if waiting.isEmpty { return }
    let number = writer.reserve()
    var places = ""
    var texts: [UInt8] = []
    for (index, object) in waiting.enumerated() {
      places += "\(object.number) \(texts.count) "
      texts += object.text + [0x0A]
      packed[object.number] = PDFWriter.Packing(stream: number, index: index)
    }
    let head = "<< /Type /ObjStm /N \(waiting.count) /First \(places.utf8.count) /Filter /FlateDecode >>"
    try write(number, dictionary: Array(head.utf8), stream: deflate.compress(Array(places.utf8) + texts))
    waiting = []
    waitingSize = 0
  }

  /// - Parameter id: the document's first identifier; nil: it has none.
  func finish(catalog: Int, information: Int?, id: [UInt8]?) throws(JobFailure) {
    try pack()
    try writer.finish(catalog: catalog, information: information, id: id, packed) { [deflate] table, rowSize in
      let rows = Samples(width: rowSize, height: table.count / rowSize, bands: 1, bytes: table)
      return deflate.compress(rows.map { Prediction.applied(to: $0) } ?? [])
    }
  }
}
