/// The packed objects listed in a document's cross-reference streams (ISO 32000-1, 7.5.8).
///
/// libqpdf has validated the same streams, but does not expose their contents. Cross-reference tables, and the older
/// ones they point back to, are ignored. The exception is an empty table at the end, which office programs write for
/// old readers.
struct CrossReferences {
  /// The object stream and the index in it, by object number. Stream 0 means that the object is not packed.
  private(set) var packed: [(stream: Int32, index: Int32)] = []
  /// Whether a newer stream has an entry for the object.
  private var isKnown: [Bool] = []

  /// The maximum number of objects. Higher object numbers are left to libqpdf.
  private static let mostObjects = 1 << 22
  /// The maximum number of streams. More mean a loop.
  private static let mostStreams = 256

  init(of file: PDFFile) {
    // Offsets are relative to the header, which must be at the start here.
    guard unsafe file.bytes.starts(with: "%PDF-".utf8), var place = Self.start(file) else { return }
    if unsafe Self.isEmptyTable(file.bytes.dropFirst(place).prefix(40)),
      let stream = file.trailer["/XRefStm"]?.integer
    {
      place = stream
    }
    for _ in 0..<Self.mostStreams {
      guard let id = Self.object(at: place, file) else { return }
      let object = file.object(id)
      guard object.isStream else { return }
      let dictionary = object.dictionary
      guard dictionary["/Type"]?.name == "/XRef", let data = object.decodedData else { return }
      read(data, dictionary)
      guard let previous = dictionary["/Prev"]?.integer else { return }
      place = previous
    }
  }

  /// Returns the `startxref` offset at the end of the document.
  static func start(_ file: PDFFile) -> Int? {
    let end = unsafe Array(file.bytes.suffix(1024))
    let mark = Array("startxref".utf8)
    guard let place = end.indices.last(where: { end[$0...].starts(with: mark) }) else { return nil }
    let digits = end[(place + mark.count)...].drop { $0 <= 0x20 }.prefix { (0x30...0x39).contains($0) }
    return Int(String(decoding: digits, as: UTF8.self))
  }

  /// Returns whether this is an empty table whose trailer refers to a stream. It is for readers without support for
  /// streams.
  private static func isEmptyTable(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
    let words = unsafe Array(bytes).split { $0 <= 0x20 }
    return words.count >= 4 && words[..<3].elementsEqual(["xref", "0", "0"]) { $0.elementsEqual($1.utf8) }
      && words[3].starts(with: "trailer".utf8)
  }

  /// Returns the number of the object that starts at an offset.
  private static func object(at place: Int, _ file: PDFFile) -> PDFObject.ID? {
    guard place >= 0, unsafe place < file.bytes.count else { return nil }
    let text = unsafe Array(file.bytes[place...].prefix(40))
    let words = text.split(maxSplits: 3) { $0 <= 0x20 }.map { String(decoding: $0, as: UTF8.self) }
    guard words.count >= 3, words[2].hasPrefix("obj"), let number = Int32(words[0]), let generation = Int32(words[1])
    else { return nil }
    return PDFObject.ID(number: number, generation: generation)
  }

  private mutating func read(_ data: [UInt8], _ dictionary: PDFObject) {
    let widths = dictionary["/W"]?.items.map { $0.integer ?? -1 } ?? []
    guard widths.count == 3, widths.allSatisfy({ (0...4).contains($0) }), let size = dictionary["/Size"]?.integer
    else { return }
    let width = widths.reduce(0, +)
    let runs = dictionary["/Index"]?.items.map { $0.integer ?? -1 } ?? [0, size]
    var at = 0
    for run in stride(from: 0, to: runs.count - 1, by: 2) {
      let first = runs[run]
      guard width > 0, first >= 0, first < Self.mostObjects, runs[run + 1] > 0 else { return }
      let count = min(runs[run + 1], (data.count - at) / width, Self.mostObjects - first)
      if packed.count < first + count {
        let more = first + count - packed.count
        packed += repeatElement((stream: Int32(0), index: Int32(0)), count: more)
        isKnown += repeatElement(false, count: more)
      }
      for number in first..<(first + count) {
        var fields = (1, 0, 0)
        if widths[0] > 0 { fields.0 = Self.number(data, &at, widths[0]) }
        fields.1 = Self.number(data, &at, widths[1])
        fields.2 = Self.number(data, &at, widths[2])
        if isKnown[number] { continue }
        isKnown[number] = true
        if fields.0 == 2, let stream = Int32(exactly: fields.1), let index = Int32(exactly: fields.2) {
          packed[number] = (stream, index)
        }
      }
    }
  }

  private static func number(_ data: [UInt8], _ at: inout Int, _ width: Int) -> Int {
    var number = 0
    for _ in 0..<width {
      number = number << 8 | Int(data[at])
      at += 1
    }
    return number
  }
}
