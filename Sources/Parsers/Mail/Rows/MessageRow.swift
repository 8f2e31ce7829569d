public import Bytes
internal import Text

/// The indexed data of a message in a mailbox: its location, and the source data of directories, threads and labels.
public struct MessageRow: Sendable, Equatable {
  /// The offset of its separator line, in bytes from the start of the mailbox.
  public var separator: Int64
  /// The offset of the message, after the separator line.
  public var start: Int64
  /// The end of the message: the next separator, or the end of the mailbox.
  public var end: Int64
  /// The CRC-32 of the message, including the separator. 0 if not computed yet.
  public var sum: UInt32 = 0

  /// The date from the field `Date`, or else the separator line, in seconds since the Unix epoch. Nil if there is
  /// neither.
  public var date: Int64?
  /// The zone of the date, in minutes east of Greenwich.
  public var zone = 0
  /// The decoded name of the sender, or else the address. Empty if there is none. At most `textLimit` bytes.
  public var sender = ""
  /// The address of the sender. Empty if there is none. At most `textLimit` bytes.
  public var address = ""
  /// The decoded subject. At most `textLimit` bytes.
  public var subject = ""

  /// A hash of the ID in `Message-ID`, without brackets and spaces. Nil if there is none.
  public var messageID: UInt64?
  /// Hashes of the IDs in `References`, oldest first, and of the first one in `In-Reply-To` if it is not among them.
  /// Beyond `listLimit`, the first and the last ones.
  public var references: [UInt64] = []
  /// Gmail's thread, from `X-GM-THRID`.
  public var thread: UInt64?
  /// Gmail's labels, from `X-Gmail-Labels`, decoded, in order. At most `listLimit`, each of at most `textLimit` bytes.
  public var labels: [String] = []
  /// Whether a mail program has marked it as deleted, for instance by `X-Mozilla-Status`. It is still present.
  public var isDeleted = false

  /// The maximum size of a text, in bytes of UTF-8, and the maximum length of a list.
  public static let textLimit = 512
  public static let listLimit = 64

  public init(separator: Int64, start: Int64, end: Int64) {
    self.separator = separator
    self.start = start
    self.end = end
  }

  /// The size of the message without the separator line, in bytes.
  public var size: Int64 { end - start }
}

extension MessageRow {
  /// Returns the hash for comparing IDs.
  public static func hash(ofID id: ArraySlice<UInt8>) -> UInt64 {
    let span = id.span
    return hash(span)
  }

  private static func hash(_ id: Span<UInt8>) -> UInt64 {
    var hash = StableHash()
    unsafe hash.combine(id.bytes)
    return hash.value
  }

  /// Sets the values from the header section. `separatorDate` is used for a message without a date.
  mutating func fill(_ bytes: Span<UInt8>, _ head: MessageHead, separatorDate: MailDate?) {
    if let date = head.date.flatMap({ MailDate(bytes.extracting($0)) }) ?? separatorDate {
      self.date = date.seconds
      zone = date.zoneMinutes
    }
    let declared = head.declaredCharset(bytes)
    for field in [head.from, head.sender] where address.isEmpty && sender.isEmpty {
      guard let field, let found = MailAddress(firstOf: bytes.extracting(field), declared: declared) else { continue }
      sender = MessageRow.cut(found.label)
      address = MessageRow.cut(found.address)
    }
    if let subject = head.subject {
      self.subject = MessageRow.cut(EncodedWords.decode(bytes.extracting(subject), declared: declared))
    }
    if let field = head.messageID { messageID = MessageRow.ids(bytes.extracting(field), atMost: 1).first }
    if let field = head.references {
      references = MessageRow.ids(bytes.extracting(field), atMost: MessageRow.listLimit)
    }
    if let field = head.inReplyTo, let parent = MessageRow.ids(bytes.extracting(field), atMost: 1).first,
      !references.contains(parent)
    {
      if references.count == MessageRow.listLimit { references.remove(at: 1) }
      references.append(parent)
    }
    thread = head.thread.flatMap { MessageHead.number(bytes.extracting($0)) }
    if let field = head.labels { labels = MessageRow.labels(in: EncodedWords.decode(bytes.extracting(field))) }
    if let field = head.mozillaStatus { isDeleted = MessageRow.isDeleted(bytes.extracting(field)) }
  }

  /// Returns the first `textLimit` bytes, cut at a code point boundary.
  static func cut(_ text: String) -> String {
    guard text.utf8.count > textLimit else { return text }
    var end = text.utf8.index(text.startIndex, offsetBy: textLimit)
    while end > text.startIndex, end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
    return String(text[..<end])
  }

  /// Returns hashes of the IDs in `<>`, or else of the words. Beyond `limit`, the first and the last ones.
  private static func ids(_ value: Span<UInt8>, atMost limit: Int) -> [UInt64] {
    var ids: [UInt64] = []
    var dropped = 0
    func add(_ range: Range<Int>) {
      guard !range.isEmpty else { return }
      if ids.count < limit {
        ids.append(id(value, range))
      } else if limit > 1 {
        // A ring buffer after the first id, rotated into order below.
        ids[1 + dropped % (limit - 1)] = id(value, range)
        dropped += 1
      }
    }
    var index = 0
    while let open = value.firstIndex(of: 0x3c, in: index..<value.count) {
      if limit == 1, !ids.isEmpty { break }
      let close = value.firstIndex(of: 0x3e, in: open + 1..<value.count) ?? value.count
      add(open + 1..<close)
      index = close
    }
    if ids.isEmpty, index == 0 {
      while index < value.count, ids.count < limit {
        var end = index
        while end < value.count, !value[end].isMailSpace { end += 1 }
        add(index..<end)
        index = end + 1
      }
    }
    guard dropped > 0 else { return ids }
    let oldest = 1 + dropped % (limit - 1)
    return [ids[0]] + ids[oldest...] + ids[1..<oldest]
  }

  /// Hashes an ID without the white space of a fold inside.
  private static func id(_ value: Span<UInt8>, _ range: Range<Int>) -> UInt64 {
    for index in range where value[index].isMailSpace {
      let tight = range.compactMap { value[$0].isMailSpace ? nil : value[$0] }
      return hash(ofID: tight[...])
    }
    return hash(value.extracting(range))
  }

  /// Splits labels at commas outside quotes.
  static func labels(in text: String) -> [String] {
    var labels: [String] = []
    var label: [UInt8] = []
    var isQuoted = false
    func add() {
      let text = label[label.span.trimmed]
      if !text.isEmpty, labels.count < listLimit { labels.append(cut(String(decoding: text, as: UTF8.self))) }
      label = []
    }
    for byte in text.utf8 {
      if byte == 0x22 {
        isQuoted.toggle()
      } else if byte == 0x2c, !isQuoted {
        add()
      } else {
        label.append(byte)
      }
    }
    add()
    return labels
  }

  /// Returns bit 3 of a hexadecimal number.
  private static func isDeleted(_ status: Span<UInt8>) -> Bool {
    guard !status.isEmpty, let last = status[status.count - 1].hexValue else { return false }
    return last & 8 != 0
  }
}

extension MessageRow {
  /// Reads the row of a file that is one message, whose bytes are those from `start` to `end`, without a checksum.
  /// Blocks.
  ///
  /// Reads the header section, at most `Header.limit` bytes. Rethrows the source's faults.
  public init(ofFile source: any ByteSource, from start: Int64, to end: Int64) throws(Fault) {
    self.init(separator: start, start: start, end: end)
    var wanted = 8 << 10
    while true {
      let count = Int(min(Int64(wanted), end - start))
      let bytes = try source.bytes(at: start, count: count)
      let isAll = Int64(count) == end - start || count >= Header.limit
      let head = MessageHead(ofFile: bytes.span)
      if head.isCut, !isAll {
        wanted = min(Header.limit, wanted * 8)
        continue
      }
      fill(bytes.span, head, separatorDate: nil)
      break
    }
  }
}
