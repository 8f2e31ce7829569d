internal import Pixels

/// Searches the bytes of a document for objects and trailers, ignoring its cross-references.
@safe struct RecoveryScan {
  enum Place {
    case byte(Int, generation: Int32)
    case packed(in: Int32, index: Int)
  }

  private(set) var places: [Int32: Place] = [:]
  /// The encryption dictionary.
  private(set) var encryption: ObjectText?
  /// The last complete trailer.
  private var trailer: ObjectText?
  /// The last catalog.
  private var catalog: PDFObject.ID?
  /// The numbers of all objects that are catalogs.
  private var catalogs: Set<Int32> = []
  /// The page objects, in the order in which each is first found.
  private(set) var pages: [PDFObject.ID] = []
  private var knownPages: Set<Int32> = []
  /// The object streams, in file order.
  private var objectStreams: [(number: Int32, dictionary: ObjectText, start: Int)] = []
  private var encryptions: [PDFObject.ID: ObjectText] = [:]
  private let bytes: UnsafeRawBufferPointer

  /// The maximum number of objects. More were not written by any program.
  private static let mostObjects = 1 << 22
  /// The largest object number. Readers need not support numbers above 8388607.
  private static let largestNumber: Int32 = 1 << 24
  /// The maximum length of a dictionary, in bytes. Longer ones are ignored.
  private static let longestDictionary = 1 << 16
  private static let deepest = 64
  /// The maximum length of an object's number and generation, in bytes.
  private static let longestHead = 64

  init(_ bytes: UnsafeRawBufferPointer) { unsafe self.bytes = bytes }

  mutating func run() {
    var at = 0
    while at < size {
      switch self[at] {
      case 0x6F where has("obj", at: at):
        at = takeObject(at)
      case 0x73 where has("stream", at: at) && at > 0 && self[at - 1] != 0x64:
        // A stream's data is not searched for objects; `endstream` ends in the same letters.
        at = end(ofStream: at + 6) ?? at + 6
      case 0x74 where has("trailer", at: at):
        if let text = dictionary(from: at + 7) { take(trailer: text) }
        at += 7
      default: at += 1
      }
    }
    if encryption == nil, let reference = trailer?.reference(for: "/Encrypt") {
      encryption = encryptions[reference]
    } else if trailer == nil {
      encryption = encryptions.values.first
    }
  }

  var root: PDFObject.ID? {
    guard let root = trailer?.reference(for: "/Root"), places[root.number] != nil else { return catalog }
    return catalogs.contains(root.number) ? root : catalog ?? root
  }

  /// The dictionary of the catalog. Nil if it is in an object stream.
  var catalogText: ObjectText? {
    guard let root, case .byte(let place, _)? = places[root.number],
      let word = (place..<min(size, place + Self.longestHead)).first(where: { has("obj", at: $0) })
    else { return nil }
    return dictionary(from: word + 3)
  }

  /// Returns the other entries of the trailer.
  func trailer(withEncryption: Bool) -> String {
    var text = ""
    // Only a dictionary can describe the encryption.
    for key in ["/Info", "/ID"] + (withEncryption && encryption != nil ? ["/Encrypt"] : []) {
      if let value = trailer?.value(of: key) { text += " \(key) " + String(decoding: value, as: UTF8.self) }
    }
    if trailer == nil, withEncryption, let id = encryptions.keys.first { text += " /Encrypt \(id.number) 0 R" }
    return text
  }

  /// Finds the objects in object streams (ISO 32000-1, 7.5.7).
  mutating func unpack(atMost limit: Int) {
    for (number, dictionary, start) in objectStreams {
      guard case .byte? = places[number], let count = dictionary.integer(for: "/N"),
        let first = dictionary.integer(for: "/First"), let end = end(ofStream: start), first >= 0,
        let data = data(start..<end - "endstream".utf8.count, dictionary, atMost: limit), first <= data.count
      else { continue }
      let words = data[..<first].split { $0 <= 0x20 }.prefix(2 * max(0, min(count, Self.mostObjects)))
        .map { Int(String(decoding: $0, as: UTF8.self)) }
      for index in stride(from: 0, to: words.count - 1, by: 2) {
        guard let own = words[index].flatMap({ Int32(exactly: $0) }),
          (1...Self.largestNumber).contains(own), places.count < Self.mostObjects,
          index / 2 <= Int(UInt16.max), let offset = words[index + 1], offset >= 0, offset <= data.count - first
        else { continue }
        // An object after the stream in the file is newer.
        if case .byte(let place, _)? = places[own], place > start { continue }
        places[own] = .packed(in: number, index: index / 2)
        let next = index + 3 < words.count ? words[index + 3] ?? 0 : 0
        let end = next > offset && next <= data.count - first ? first + next : data.count
        let text = data[(first + offset)..<end].prefix(Self.longestDictionary)
        if text.starts(with: "<<".utf8) { note(ObjectText(Array(text)), PDFObject.ID(number: own, generation: 0)) }
      }
    }
  }

  // MARK: One object

  /// Records the object whose `obj` is at an offset. Returns the offset to continue at.
  private mutating func takeObject(_ word: Int) -> Int {
    var at = word
    guard let generation = number(before: &at), let number = number(before: &at), number > 0,
      places.count < Self.mostObjects, let own = Int32(exactly: number), own <= Self.largestNumber,
      let generation = Int32(exactly: generation)
    else { return word + 3 }
    let id = PDFObject.ID(number: own, generation: generation)
    places[own] = .byte(at, generation: generation)
    guard let text = dictionary(from: word + 3) else { return word + 3 }
    note(text, id)
    if text.value(of: "/O") != nil, text.value(of: "/U") != nil, text.value(of: "/Filter") != nil,
      text.value(of: "/V") != nil
    {
      encryptions[id] = text
    }
    if Self.type(text, is: "/XRef") { take(trailer: text) }
    if Self.type(text, is: "/ObjStm"), let start = stream(behind: word + 3 + text.bytes.count) {
      objectStreams.append((own, text, start))
    }
    return word + 3
  }

  /// Records an object if it is a catalog or a page.
  private mutating func note(_ text: ObjectText, _ id: PDFObject.ID) {
    if Self.type(text, is: "/Catalog") {
      catalog = id
      catalogs.insert(id.number)
    } else if Self.type(text, is: "/Page"), knownPages.insert(id.number).inserted {
      pages.append(id)
    }
  }

  private mutating func take(trailer text: ObjectText) {
    guard text.reference(for: "/Root") != nil else { return }
    trailer = text
    if let direct = text.value(of: "/Encrypt"), direct.first == 0x3C { encryption = ObjectText(Array(direct)) }
  }

  private static func type(_ text: ObjectText, is type: String) -> Bool { text.has(type, for: "/Type") }

  /// Returns a stream's decoded bytes.
  private func data(_ range: Range<Int>, _ dictionary: ObjectText, atMost limit: Int) -> [UInt8]? {
    guard range.count <= limit else { return nil }
    let raw = unsafe Array(bytes[range])
    guard let filter = dictionary.value(of: "/Filter") else { return raw }
    let isDeflated =
      filter.elementsEqual("/FlateDecode".utf8)
      || ObjectText.items(filter).map(Array.init) == [Array("/FlateDecode".utf8)]
    return isDeflated && dictionary.value(of: "/DecodeParms") == nil ? Deflate.expand(raw, atMost: limit) : nil
  }

  // MARK: Bytes

  private func has(_ word: StaticString, at place: Int) -> Bool {
    guard size - place >= word.utf8CodeUnitCount else { return false }
    return unsafe bytes[place..<place + word.utf8CodeUnitCount]
      .elementsEqual(UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
  }

  private var size: Int { unsafe bytes.count }

  private subscript(place: Int) -> UInt8 { unsafe bytes[place] }

  /// Returns the number that ends before an offset, skipping white space. Moves the offset to its start.
  private func number(before place: inout Int) -> Int? {
    var at = place
    while at > 0, self[at - 1] <= 0x20 { at -= 1 }
    let end = at
    while at > 0, end - at < 10, (0x30...0x39).contains(self[at - 1]) { at -= 1 }
    guard at < end else { return nil }
    place = at
    return unsafe bytes[at..<end].reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }

  /// Returns the offset of a stream's data, after the dictionary that ends near an offset.
  private func stream(behind place: Int) -> Int? {
    var at = place
    while at < size, at < place + 64, !has("stream", at: at) { at += 1 }
    guard has("stream", at: at) else { return nil }
    at += 6
    if has("\r\n", at: at) { return at + 2 }
    return at + 1
  }

  /// Returns the offset after the next `endstream`.
  private func end(ofStream start: Int) -> Int? {
    var at = start
    while at < size {
      if self[at] == 0x65, has("endstream", at: at) { return at + 9 }
      at += 1
    }
    return nil
  }

  /// Returns the next dictionary, if it is complete.
  private func dictionary(from place: Int) -> ObjectText? {
    var start = place
    while start < size, self[start] <= 0x20 { start += 1 }
    guard has("<<", at: start) else { return nil }
    let most = min(size, start + Self.longestDictionary)
    var (at, depth) = (start, 0)
    while at < most {
      if has("<<", at: at) {
        depth += 1
        at += 2
        if depth > Self.deepest { return nil }
      } else if has(">>", at: at) {
        depth -= 1
        at += 2
        if depth == 0 { return unsafe ObjectText(Array(bytes[start..<at])) }
      } else if self[at] == 0x28 {
        at = end(ofString: at, most)
      } else {
        at += 1
      }
    }
    return nil
  }

  private func end(ofString start: Int, _ most: Int) -> Int {
    var (at, depth) = (start, 0)
    while at < most {
      switch self[at] {
      case 0x5C: at += 1
      case 0x28: depth += 1
      case 0x29: depth -= 1
      default: break
      }
      at += 1
      if depth == 0 { break }
    }
    return at
  }
}
