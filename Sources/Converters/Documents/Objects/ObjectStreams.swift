internal import Glibc

/// The object streams of a PDF (ISO 32000-1, 7.5.7), which may have objects of any page.
struct ObjectStreams {
  private let file: PDFFile

  private static let mark = Array("ObjStm".utf8)
  private static let header = Array(" obj".utf8)
  /// The maximum distance from an object's header to its type, in bytes.
  private static let farthest = 4096

  init(of file: PDFFile) { self.file = file }

  /// Returns whether all of them can be decoded and match their checksums, which libqpdf does not compare. Reads the whole
  /// file.
  func areIntact() -> Bool {
    let bytes = unsafe file.bytes
    guard let start = bytes.baseAddress else { return true }
    var place = 0
    while let hit = unsafe memchr(start + place, Int32(Self.mark[0]), bytes.count - place) {
      let found = unsafe UnsafeRawPointer(hit) - start
      place = found + 1
      guard unsafe bytes[found...].starts(with: Self.mark),
        let id = unsafe Self.id(before: Array(bytes[max(0, found - Self.farthest)..<found]))
      else { continue }
      let stream = file.object(id)
      // The words may be in another object.
      if stream.isStream, stream.dictionary["/Type"]?.name == "/ObjStm", !stream.isIntact { return false }
    }
    return true
  }

  /// Returns the number of the last object whose header is in some bytes.
  private static func id(before bytes: [UInt8]) -> PDFObject.ID? {
    guard bytes.count > header.count,
      let end = (0...bytes.count - header.count).last(where: { bytes[$0...].starts(with: header) })
    else { return nil }
    let words = bytes[..<end].suffix(24).split { !(0x30...0x39).contains($0) }.suffix(2)
    let numbers = words.compactMap { Int32(String(decoding: $0, as: UTF8.self)) }
    return numbers.count == 2 ? PDFObject.ID(number: numbers[0], generation: numbers[1]) : nil
  }
}
