internal import Bytes
internal import Jobs
internal import Mail
internal import Tree

/// A digest of a message's content, independent of where it is stored: HMAC-SHA-256 (with an empty key) of the fields
/// that its sender wrote and of its body.
///
/// Fields that are added in transit or by mail programs are ignored. So are the line endings, empty lines at the end,
/// and the quoting of lines `From `, which differ between mailboxes.
enum MessageDigest {
  private static let fields: Set<[UInt8]> = Set(
    [
      "from", "sender", "reply-to", "to", "cc", "bcc", "subject", "date", "message-id", "in-reply-to", "references",
      "content-type", "content-transfer-encoding", "content-disposition", "content-id", "content-description",
      "content-language", "content-location", "content-base", "mime-version",
    ].map { Array($0.utf8) })

  /// The size of one read, in bytes.
  private static let readSize = 192 << 10

  /// Returns the digest of a message. Returns `nil` if memory is exhausted. Blocks. Rethrows the source's faults.
  static func digest(of bytes: any ByteSource) throws(Fault) -> [UInt8]? {
    guard let digest = KeyedDigest(key: []) else { return nil }
    let head = try bytes.bytes(at: 0, count: Int(min(bytes.size, Int64(Header.limit))))
    let header = Header(head[...])
    for field in header.fields {
      let name = header.name(of: field).map { $0 >= 0x41 && $0 <= 0x5a ? $0 | 0x20 : $0 }
      guard fields.contains(name) else { continue }
      // Folding and spaces differ between programs.
      let words = header.value(of: field).split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0a || $0 == 0x0d }
      digest.add(name + [0x3a] + Array(words.joined(separator: [0x20])) + [0x0a])
    }
    digest.add([0])
    var body = BodyText()
    var offset = Int64(header.bytes.count)
    while offset < bytes.size {
      try CancellationToken.check()
      let block = try bytes.bytes(at: offset, count: Int(min(bytes.size - offset, Int64(readSize))))
      guard !block.isEmpty else { throw Fault(.changed, "expected \(bytes.size) bytes", atByte: offset) }
      digest.add(body.add(block))
      offset += Int64(block.count)
    }
    digest.add(body.finish())
    return digest.finish()
  }

  /// A body with LF, without `>` before `From `, and without empty lines at the end.
  struct BodyText {
    /// The start of a line that may be a quoted `From `. Nil within a line.
    private var start: [UInt8]? = []
    private var hasReturn = false
    private var emptyLines = 0

    /// The longest run of `>` that is taken for quoting.
    private static let longestRun = 64
    private static let word = Array("From ".utf8)

    /// Adds bytes of the body. Returns the normalized text that is certain.
    mutating func add(_ bytes: [UInt8]) -> [UInt8] {
      var text: [UInt8] = []
      text.reserveCapacity(bytes.count)
      for byte in bytes {
        if hasReturn, byte != 0x0a { put(0x0d, to: &text) }
        hasReturn = byte == 0x0d
        if !hasReturn { put(byte, to: &text) }
      }
      return text
    }

    mutating func finish() -> [UInt8] {
      var text: [UInt8] = []
      if hasReturn { put(0x0d, to: &text) }
      if let start, !start.isEmpty { flush(start, to: &text) }
      return text
    }

    private mutating func put(_ byte: UInt8, to text: inout [UInt8]) {
      if byte == 0x0a {
        if let start, !start.isEmpty { flush(start, to: &text) }
        start = []
        emptyLines += 1
        return
      }
      guard var line = start else { return text.append(byte) }
      line.append(byte)
      let marks = line.prefix { $0 == 0x3e }.count
      let rest = line.dropFirst(marks)
      if marks <= Self.longestRun, rest.count < Self.word.count, Self.word.starts(with: rest) {
        start = line
        return
      }
      flush(marks <= Self.longestRun && rest.elementsEqual(Self.word) ? Array(rest) : line, to: &text)
      start = nil
    }

    /// Writes the pending line ends and the start of a line.
    private mutating func flush(_ line: [UInt8], to text: inout [UInt8]) {
      text += [UInt8](repeating: 0x0a, count: emptyLines)
      emptyLines = 0
      text += line
    }
  }
}
