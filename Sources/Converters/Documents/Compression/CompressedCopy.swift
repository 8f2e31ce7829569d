internal import Bytes
internal import Catalogue
internal import Pixels
internal import WorkerKit

/// Copies a whole document into a smaller one: everything reachable from the catalog, with equal objects merged and
/// images reduced to the size they are painted at.
struct CompressedCopy {
  private let file: PDFFile
  private let writer: PackedWriter
  private let coder: StreamCoder

  /// The new number of each object found. Nil if the object is null.
  private var numbers: [PDFObject.ID: Int?] = [:]
  /// Objects that are numbered but not yet written, in the order in which they were found.
  private var waiting: [(id: PDFObject.ID, number: Int)] = []
  /// Objects being written as part of another one.
  private var underWay: Set<PDFObject.ID> = []
  /// The new numbers of objects that equal objects can be replaced by.
  private var shared: [Sameness: Int] = [:]
  /// Whether the document is signed. If so, writing stops.
  private(set) var isSigned: Bool

  /// A digest that is equal for equal objects, and almost certainly different for others.
  private struct Sameness: Hashable {
    let text: UInt64
    let data: UInt64
    let size: Int
    let need: StreamCoder.Need?
  }

  /// The maximum nesting depth for merging. Objects nested deeper are queued, and not merged with equal ones.
  private static let deepest = 16
  /// The types of dictionaries that are defined by their contents alone. Others have an identity in the document.
  private static let sharableTypes = ["/Font", "/FontDescriptor", "/Encoding", "/ExtGState"]
  private static let colourSpaces = [
    "/ICCBased", "/Indexed", "/Separation", "/DeviceN", "/CalRGB", "/CalGray", "/Lab",
  ].map { Array("[ \($0) ".utf8) }

  init(of file: PDFFile, _ coder: StreamCoder, to output: JobOutput) throws(JobFailure) {
    self.file = file
    self.coder = coder
    let packs = Conformance(of: file.root)?.allowsPacking ?? true
    let version = packs ? PackedWriter.version(file.version) : file.version
    writer = try PackedWriter(
      PDFWriter(to: output, version: version, file.protection.get()), coder.deflate, packs: packs)
    isSigned = file.isSigned
  }

  /// Writes the whole new document. Stops early if it is signed.
  mutating func write() throws(JobFailure) {
    guard let root = file.root.id, let catalog = try number(for: root, 0) else {
      throw JobFailure(.damaged, "is not a readable PDF")
    }
    let trailer = file.trailer
    var information: Int?
    if let info = trailer["/Info"] {
      if let id = info.id {
        information = try number(for: id, 0)
      } else if info.isDictionary {
        let number = writer.reserve()
        try writer.write(number, try translated(ObjectText(info.ownText), 0))
        information = number
      }
    }
    let id = trailer["/ID"]?.items.first?.string
    var next = 0
    while next < waiting.count, !isSigned {
      let (id, number) = waiting[next]
      next += 1
      try write(id, as: number)
      file.releaseObjects()
      if next >= 4096, 2 * next >= waiting.count {
        waiting.removeFirst(next)
        next = 0
      }
    }
    try file.checkErrors()
    if !isSigned { try writer.finish(catalog: catalog, information: information, id: id) }
  }

  private mutating func write(_ id: PDFObject.ID, as number: Int) throws(JobFailure) {
    let object = file.object(id)
    var text = ObjectText(object.ownText)
    if object.isStream {
      if file.isEncrypted { text = text.withoutCryptFilter }
      let dictionary = try translated(text.without(["/Length"]), 0)
      try write(object, id, as: number, dictionary, try object.data(), 0)
    } else {
      // A signature value, or a field with one.
      if text.mentions("/ByteRange"), text.mentions("/Contents") { isSigned = true }
      try writer.write(number, try translated(text, 0))
    }
  }

  /// - Parameter dictionary: with the new object numbers.
  private mutating func write(
    _ stream: PDFObject, _ id: PDFObject.ID, as number: Int, _ dictionary: [UInt8], _ data: [UInt8], _ depth: Int
  ) throws(JobFailure) {
    var base: [UInt8]?
    if let text = ImageStream.base(of: stream) { base = try translated(ObjectText(text), depth) }
    let coded = coder.code(stream, id, dictionary, base: base, data)
    try writer.write(number, dictionary: coded.dictionary, stream: coded.data)
  }

  /// Returns the text with the new object numbers.
  private mutating func translated(_ text: ObjectText, _ depth: Int) throws(JobFailure) -> [UInt8] {
    var replacements: [[UInt8]] = []
    for reference in text.references {
      replacements.append(
        try number(for: reference.id, depth).map { Array("\($0) 0 R".utf8) } ?? Array("null".utf8))
    }
    return text.replacingReferences(with: replacements)
  }

  private mutating func number(for id: PDFObject.ID, _ depth: Int) throws(JobFailure) -> Int? {
    if let known = numbers[id] { return known }
    let object = file.object(id)
    if object.isNull {
      numbers[id] = .some(nil)
      return nil
    }
    if depth < Self.deepest, !underWay.contains(id), isSharable(object) { return try share(object, id, depth) }
    let number = writer.reserve()
    numbers[id] = number
    if !underWay.contains(id) { waiting.append((id, number)) }
    return number
  }

  private func isSharable(_ object: PDFObject) -> Bool {
    if object.isStream { return true }
    if let type = object["/Type"]?.name { return Self.sharableTypes.contains(type) }
    guard object.isArray else { return false }
    let text = object.ownText
    return Self.colourSpaces.contains { text.starts(with: $0) }
  }

  /// Writes an object now, unless an equal one has been written.
  private mutating func share(_ object: PDFObject, _ id: PDFObject.ID, _ depth: Int) throws(JobFailure) -> Int {
    underWay.insert(id)
    defer { underWay.remove(id) }
    var text = ObjectText(object.ownText)
    let isStream = object.isStream
    if isStream, file.isEncrypted { text = text.withoutCryptFilter }
    let own = try translated(isStream ? text.without(["/Length"]) : text, depth + 1)
    let data = isStream ? try object.data() : []
    let sameness = Sameness(
      text: Self.hash(own), data: Self.hash(data), size: data.count, need: isStream ? coder.need(of: id) : nil)
    // An object that refers to itself has been numbered in the meantime, and equals no other.
    let given = numbers[id] ?? nil
    if given == nil, let same = shared[sameness] {
      numbers[id] = same
      return same
    }
    let number = given ?? writer.reserve()
    numbers[id] = number
    shared[sameness] = number
    if isStream {
      try write(object, id, as: number, own, data, depth + 1)
    } else {
      try writer.write(number, own)
    }
    return number
  }

  private static func hash(_ bytes: [UInt8]) -> UInt64 {
    var hash = StableHash()
    unsafe hash.combine(long: bytes.span.bytes)
    return hash.value
  }
}
