/// Reads numbers out of a box of an ISO base media file (ISO/IEC 14496-12), the most significant byte first. Beyond the end
/// all of them are 0.
struct BoxReader {
  private var bytes: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  /// `width` in bytes, at most 8.
  mutating func number(_ width: Int) -> UInt64 {
    defer { bytes = bytes.dropFirst(width) }
    guard bytes.count >= width else { return 0 }
    return bytes.prefix(width).reduce(0) { $0 << 8 | UInt64($1) }
  }

  mutating func skip(_ count: Int) { bytes = bytes.dropFirst(count) }

  /// A number that is there in some boxes: in those with all of some flags.
  mutating func number(if flags: UInt64, _ wanted: UInt64) -> UInt64? { flags & wanted == 0 ? nil : number(4) }

  /// The boxes that are left, by their names.
  var boxes: [(name: String, body: ArraySlice<UInt8>)] {
    var found: [(name: String, body: ArraySlice<UInt8>)] = []
    var rest = bytes
    while rest.count >= 8 {
      var head = BoxReader(rest)
      let size = Int(clamping: head.number(4))
      guard size >= 8, size <= rest.count else { break }
      let name = String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self)
      found.append((name, rest.prefix(size).dropFirst(8)))
      rest = rest.dropFirst(size)
    }
    return found
  }

  /// The body of the box at the end of a path, the first one of each name; nil if there is none.
  func body(_ path: String...) -> ArraySlice<UInt8>? {
    var body = bytes
    for name in path {
      guard let next = BoxReader(body).boxes.first(where: { $0.name == name }) else { return nil }
      body = next.body
    }
    return body
  }
}
