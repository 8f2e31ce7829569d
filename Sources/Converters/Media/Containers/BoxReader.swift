/// A reader of big-endian numbers in a box of an ISO base media file (ISO/IEC 14496-12). Numbers past the end are 0.
struct BoxReader {
  private var bytes: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

  /// Reads a number of `width` bytes, at most 8.
  mutating func number(_ width: Int) -> UInt64 {
    defer { bytes = bytes.dropFirst(width) }
    guard bytes.count >= width else { return 0 }
    return bytes.prefix(width).reduce(0) { $0 << 8 | UInt64($1) }
  }

  mutating func skip(_ count: Int) { bytes = bytes.dropFirst(count) }

  /// Reads an optional number of 4 bytes. Returns `nil` if `flags` contains none of the wanted bits.
  mutating func number(if flags: UInt64, _ wanted: UInt64) -> UInt64? { flags & wanted == 0 ? nil : number(4) }

  /// The remaining boxes with their names.
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

  /// Returns the body of the box at the end of a path, by the first box of each name. Returns `nil` if there is none.
  func body(_ path: String...) -> ArraySlice<UInt8>? {
    var body = bytes
    for name in path {
      guard let next = BoxReader(body).boxes.first(where: { $0.name == name }) else { return nil }
      body = next.body
    }
    return body
  }
}
