internal import Bytes

/// The signed content of an opaque S/MIME part: ContentInfo, SignedData, encapContentInfo (RFC 5652 §3, §5.1).
///
/// Only the path to the content is parsed in the BER data, iteratively: tags and lengths, each checked against the
/// remaining size. Nothing is verified or decoded: the content is ranges of the source.
struct SignedData: Sendable {
  /// The ranges of the signed content, in order.
  private(set) var content: [Range<Int64>] = []
  /// Whether the source is truncated within the content.
  private(set) var isCut = false

  /// The maximum number of pieces of the content, which usually have a few hundred bytes or more each.
  private static let piecesAtMost = 1 << 20
  private static let deepest = 16

  private static let signedData: [UInt8] = [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02]

  /// Finds the content. Returns `nil` if `source` is not SignedData, or its content is detached. Blocks. Rethrows the
  /// faults of `source`, but does not throw for damage.
  init?(_ source: any ByteSource) throws(Fault) {
    var cursor = SourceCursor(source, 0..<source.size)
    do throws(Fault) {
      guard try Self.enters(0x30, &cursor), try Self.read(0x06, &cursor) == Self.signedData,
        try Self.enters(0xa0, &cursor), try Self.enters(0x30, &cursor), try Self.read(0x02, &cursor) != nil,
        try Self.passes(0x31, &cursor), try Self.enters(0x30, &cursor), try Self.read(0x06, &cursor) != nil,
        try Self.enters(0xa0, &cursor)
      else { return nil }
    } catch {
      guard error.kind == .damaged || error.kind == .limit else { throw error }
      return nil
    }
    do throws(Fault) { try readContent(&cursor) } catch {
      guard error.kind == .damaged || error.kind == .limit else { throw error }
      isCut = true
    }
    if content.isEmpty { return nil }
  }

  /// The tag and length of an element.
  private struct Head {
    let tag: UInt8
    /// The length in bytes. Nil for the indefinite form.
    let length: Int64?

    var isEnd: Bool { tag == 0 && length == 0 }
    var isConstructed: Bool { tag & 0x20 != 0 }
  }

  /// Reads a tag and length (X.690 §8.1). Multi-byte tags do not occur on the path.
  private static func head(_ cursor: inout SourceCursor) throws(Fault) -> Head {
    let start = cursor.position
    let tag = try cursor.u8()
    let first = try cursor.u8()
    guard tag & 0x1f != 0x1f, first != 0xff else {
      throw Fault(.damaged, "expected an element, found tag \(tag)", atByte: start)
    }
    if first < 0x80 { return Head(tag: tag, length: Int64(first)) }
    if first == 0x80 { return Head(tag: tag, length: nil) }
    var length: Int64 = 0
    for _ in 0..<(first & 0x7f) {
      guard length < 1 << 48 else { throw Fault(.damaged, "expected a length, found a greater one", atByte: start) }
      length = length << 8 | Int64(try cursor.u8())
    }
    return Head(tag: tag, length: length)
  }

  /// Enters an element. Returns whether it has the tag.
  private static func enters(_ tag: UInt8, _ cursor: inout SourceCursor) throws(Fault) -> Bool {
    try head(&cursor).tag == tag
  }

  /// Returns the content of a short element. Returns `nil` if it has another tag.
  private static func read(_ tag: UInt8, _ cursor: inout SourceCursor) throws(Fault) -> [UInt8]? {
    let head = try head(&cursor)
    guard head.tag == tag, let length = head.length, length <= 64 else { return nil }
    return Array(try cursor.bytes(Int(length)))
  }

  /// Skips an element. Returns whether it has the tag.
  private static func passes(_ tag: UInt8, _ cursor: inout SourceCursor) throws(Fault) -> Bool {
    let head = try head(&cursor)
    guard head.tag == tag else { return false }
    if let length = head.length {
      try cursor.skip(length)
      return true
    }
    var open = 1
    while open > 0 {
      try CancellationToken.check()
      let inner = try self.head(&cursor)
      if inner.isEnd {
        open -= 1
      } else if let length = inner.length {
        try cursor.skip(length)
      } else {
        open += 1
      }
    }
    return true
  }

  /// Reads an octet string, primitive or constructed (X.690 §8.7).
  private mutating func readContent(_ cursor: inout SourceCursor) throws(Fault) {
    /// The ends of the open elements. Nil for the indefinite form.
    var ends: [Int64?] = []
    repeat {
      try CancellationToken.check()
      while let last = ends.last, let end = last, cursor.position >= end { ends.removeLast() }
      if ends.isEmpty, !content.isEmpty { return }
      let head = try Self.head(&cursor)
      if head.isEnd {
        guard let last = ends.popLast(), last == nil else {
          throw Fault(.damaged, "expected more signed content, found its end", atByte: cursor.position)
        }
        continue
      }
      guard head.tag & ~0x20 == 0x04 else {
        throw Fault(.damaged, "expected an octet string, found tag \(head.tag)", atByte: cursor.position)
      }
      if head.isConstructed {
        guard ends.count < Self.deepest else {
          throw Fault(.limit, "strings nested deeper than \(Self.deepest)", atByte: cursor.position)
        }
        ends.append(head.length.map { cursor.position + $0 })
        continue
      }
      guard let length = head.length, content.count < Self.piecesAtMost else {
        throw Fault(.limit, "more than \(Self.piecesAtMost) pieces", atByte: cursor.position)
      }
      let start = cursor.position
      let present = min(length, cursor.remaining)
      if present > 0 || ends.isEmpty { content.append(start..<start + present) }
      try cursor.skip(length)
    } while !ends.isEmpty
  }
}
