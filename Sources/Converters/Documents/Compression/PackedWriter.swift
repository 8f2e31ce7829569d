internal import Catalogue
internal import Pixels
internal import WorkerKit

/// Writes a PDF whose non-stream objects are packed into compressed object streams (PDF 32000-1, 7.5.7).
final class PackedWriter {
  private let writer: PDFWriter
  private let deflate: Deflate
  private var waiting: [(number: Int, text: [UInt8])] = []
  private var waitingSize = 0
  private var packed: [Int: PDFWriter.Packing] = [:]
  /// Whether the document may have object streams and a cross-reference stream.
  private let packs: Bool

  /// The maximum number of objects per stream: readers decompress the stream for any of them.
  private static let mostTogether = 200
  private static let largest = 1 << 18

  /// - Parameters:
  ///   - writer: the writer of a document of at least `version`. Objects that it has already written are not packed.
  ///   - packs: `false` to write each object by itself, and a cross-reference table, into a document of any version.
  init(_ writer: PDFWriter, _ deflate: Deflate, packs: Bool = true) {
    self.writer = writer
    self.deflate = deflate
    self.packs = packs
  }

  /// Returns the given version, or the first one with object streams if that is later.
  static func version(_ version: String) -> String {
    let parts = version.split(separator: ".").map { Int($0) ?? 0 }
    return parts.count == 2 && (parts[0], parts[1]) > (1, 5) ? version : "1.5"
  }

  func reserve() -> Int { writer.reserve() }

  /// Queues an object that is not a stream.
  func write(_ number: Int, _ text: [UInt8]) throws(JobFailure) {
    guard packs, writer.canPack else { return try writer.write(number, text) }
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

  /// - Parameter id: the document's first identifier. Nil if it has none.
  func finish(catalog: Int, information: Int?, id: [UInt8]?) throws(JobFailure) {
    try pack()
    guard packs else { return try writer.finish(catalog: catalog, information: information, id: id) }
    try writer.finish(catalog: catalog, information: information, id: id, packed) { [deflate] table, rowSize in
      let rows = Samples(width: rowSize, height: table.count / rowSize, bands: 1, bytes: table)
      return deflate.compress(rows.map { Prediction.applied(to: $0) } ?? [])
    }
  }
}
