/// The text of objects inside object streams (ISO 32000-1, 7.5.7).
///
/// libqpdf parses all objects of such a stream once one of them is requested, and keeps them while the document is
/// open. For a page of a long manual, that takes most of the time and memory. Here only copied objects are parsed.
final class PackedObjects {
  private struct Stream {
    let data: [UInt8]
    /// The number of each object, and its range in the data.
    let objects: [(number: Int, range: Range<Int>)]
  }

  private let file: PDFFile
  /// The object stream and the index in it, by object number. Stream 0 means that the object is not packed.
  private var places: [(stream: Int32, index: Int32)]
  /// The object streams by number. Nil if unreadable.
  private var streams: [Int32: Stream?] = [:]
  private var size = 0

  /// The memory for cached streams, in bytes.
  private static let limit = 32 << 20

  init(of file: PDFFile) {
    self.file = file
    places = file.isDamaged ? [] : CrossReferences(of: file).packed
  }

  /// Returns an object's text. Returns `nil` if the object is not packed, or must be interpreted by libqpdf.
  func text(of id: PDFObject.ID) -> ArraySlice<UInt8>? {
    guard id.generation == 0, places.indices.contains(Int(id.number)) else { return nil }
    let place = places[Int(id.number)]
    guard place.stream != 0, let stream = stream(place.stream), stream.objects.indices.contains(Int(place.index))
    else { return nil }
    let object = stream.objects[Int(place.index)]
    return object.number == Int(id.number) ? stream.data[object.range] : nil
  }

  private func stream(_ number: Int32) -> Stream? {
    if let known = streams[number] { return known }
    let stream = read(file.object(PDFObject.ID(number: number, generation: 0)))
    if size > PackedObjects.limit {
      streams = [:]
      size = 0
    }
    streams[number] = .some(stream)
    size += (stream?.data.count ?? 0) + 24 * (stream?.objects.count ?? 0)
    return stream
  }

  private func read(_ object: PDFObject) -> Stream? {
    guard object.isStream else { return nil }
    let dictionary = object.dictionary
    guard dictionary["/Type"]?.name == "/ObjStm", let count = dictionary["/N"]?.integer,
      let first = dictionary["/First"]?.integer, let data = object.decodedData, (0...data.count).contains(first)
    else { return nil }
    let words = data[..<first].split { $0 <= 0x20 }.map { Int(String(decoding: $0, as: UTF8.self)) }
    guard count > 0, words.count / 2 >= count else { return nil }
    var objects: [(number: Int, range: Range<Int>)] = []
    for index in 0..<count {
      let end = index + 1 < count ? words[2 * index + 3] : data.count - first
      guard let number = words[2 * index], let start = words[2 * index + 1], let end, start >= 0, start <= end,
        end <= data.count - first
      else { return nil }
      objects.append((number, first + start..<first + end))
    }
    return Stream(data: data, objects: objects)
  }
}
