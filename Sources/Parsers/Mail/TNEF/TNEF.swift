internal import Bytes
internal import Text

/// The content of a `winmail.dat`: Transport Neutral Encapsulation Format ([MS-OXTNEF]).
///
/// Only the attributes' headers and short properties are read. Data are ranges of the source. Checksums are ignored.
/// Damage ends the reading, and earlier results are kept.
struct TNEF: Sendable {
  struct File: Sendable {
    /// In UTF-8 if converted from Unicode, otherwise in the code page.
    var name: [UInt8] = []
    var longName: [UInt8] = []
    var isLongNameUnicode = false
    var contentType: [UInt8] = []
    var contentID: [UInt8] = []
    var data: Range<Int64>?
    /// Whether the data are an embedded message, in TNEF itself.
    var isMessage = false
  }

  private(set) var files: [File] = []
  /// Plain text in the code page, or in UTF-16LE.
  private(set) var text: (range: Range<Int64>, isUnicode: Bool)?
  private(set) var html: Range<Int64>?
  /// Compressed RTF.
  private(set) var rtf: Range<Int64>?
  /// The Windows code page; 0 if not recorded.
  private(set) var codePage: UInt32 = 0
  /// The properties that replace a header.
  private(set) var message = TNEFMessage()

  /// The code page's name as a mail character set. Nil if not recorded.
  var charset: String? { codePage == 0 ? nil : codePage == 65001 ? CharsetLabel.utf8 : "cp\(codePage)" }

  /// The maximum number of files.
  static let limit = 10_000

  /// Parses TNEF. Returns `nil` if `source` does not start with its signature. Blocks.
  init?(_ source: any ByteSource) throws(Fault) {
    guard source.size >= 6 else { return nil }
    var cursor = SourceCursor(source, 0..<source.size)
    guard try cursor.u32() == 0x223e_9f78 else { return nil }
    _ = try cursor.u16()
    do throws(Fault) {
      while cursor.remaining >= 11, files.count <= Self.limit { try attribute(source, &cursor) }
    } catch {
      guard error.kind == .damaged || error.kind == .limit else { throw error }
    }
    files = Array(files.filter { $0.data != nil }.prefix(Self.limit))
  }

  private mutating func attribute(_ source: any ByteSource, _ cursor: inout SourceCursor) throws(Fault) {
    _ = try cursor.u8()
    let tag = try cursor.u32()
    let length = Int64(try cursor.u32())
    let start = cursor.position
    // A length beyond the end is clamped.
    let range = start..<start + min(length, cursor.remaining)
    switch tag & 0xffff {
    case 0x9002: files.append(File())
    case 0x8010:
      let name = try cursor.bytes(Int(min(range.upperBound - start, 1024)))
      edit { $0.name = Array(name.prefix { $0 != 0 }) }
    case 0x800f: edit { if !$0.isMessage { $0.data = range } }
    case 0x9005: try properties(source, range, ofFile: true)
    case 0x9003: try properties(source, range, ofFile: false)
    case 0x9007: if range.upperBound - start >= 4 { codePage = try cursor.u32() }
    case 0x8004:
      let subject = try cursor.bytes(Int(min(range.upperBound - start, 1024)))
      message.take(0x0037, TNEFMessage.Text(bytes: Array(subject.prefix { $0 != 0 }), isUnicode: false))
    case 0x800c where text == nil: text = (try Self.unterminated(range, 1, source), false)
    default: break
    }
    try cursor.skip(range.upperBound - cursor.position)
    // The checksum, which is ignored.
    try cursor.skip(min(2, cursor.remaining))
  }

  private mutating func edit(_ change: (inout File) -> Void) {
    if files.isEmpty { files.append(File()) }
    change(&files[files.count - 1])
  }

  // MARK: MAPI properties

  private mutating func properties(_ source: any ByteSource, _ range: Range<Int64>, ofFile: Bool) throws(Fault) {
    var cursor = SourceCursor(source, range)
    let count = try cursor.u32()
    for _ in 0..<min(count, 4096) {
      do throws(Fault) { try property(&cursor, ofFile: ofFile) } catch {
        // The property's length is wrong. The attribute's length still leads to the next one.
        guard error.kind == .damaged || error.kind == .limit else { throw error }
        return
      }
    }
  }

  private mutating func property(_ cursor: inout SourceCursor, ofFile: Bool) throws(Fault) {
    let type = try cursor.u16()
    let tag = try cursor.u16()
    if tag >= 0x8000 { try skipName(&cursor) }
    let kind = type & 0x0fff
    if type == 0x40, !ofFile {
      let low = UInt64(try cursor.u32())
      return message.take(tag, fileTime: UInt64(try cursor.u32()) << 32 | low)
    }
    guard kind == 0x1e || kind == 0x1f || kind == 0x102 || kind == 0x0d || type & 0x1000 != 0 else {
      try cursor.skip(try Self.width(of: kind, at: cursor.position))
      return
    }
    let count = try cursor.u32()
    for _ in 0..<min(count, 4096) {
      if type & 0x1000 != 0, ![0x1e, 0x1f, 0x102, 0x0d].contains(kind) {
        try cursor.skip(try Self.width(of: kind, at: cursor.position))
        continue
      }
      let length = Int64(try cursor.u32())
      let start = cursor.position
      let end = start + length
      try cursor.skip(length)
      try cursor.skip(min((4 - length % 4) % 4, cursor.remaining))
      try take(tag, kind, start..<end, cursor, ofFile: ofFile)
    }
  }

  /// Skips the name of a named property.
  private func skipName(_ cursor: inout SourceCursor) throws(Fault) {
    try cursor.skip(16)
    if try cursor.u32() == 0 { return try cursor.skip(4) }
    let length = Int64(try cursor.u32())
    try cursor.skip(length)
    try cursor.skip(min((4 - length % 4) % 4, cursor.remaining))
  }

  /// Returns the padded size of a fixed-size type, in bytes.
  private static func width(of kind: UInt16, at offset: Int64) throws(Fault) -> Int64 {
    switch kind {
    case 0x02, 0x03, 0x04, 0x0a, 0x0b: 4
    case 0x05, 0x06, 0x07, 0x14, 0x40: 8
    case 0x48: 16
    case 0x00, 0x01: 0
    default: throw Fault(.damaged, "expected a property's type, found \(kind)", atByte: offset)
    }
  }

  private mutating func take(
    _ tag: UInt16, _ kind: UInt16, _ range: Range<Int64>, _ cursor: SourceCursor, ofFile: Bool
  ) throws(Fault) {
    let isUnicode = kind == 0x1f
    switch (tag, ofFile) {
    case (0x3707, true), (0x3001, true), (0x3704, true):
      // The long name, else the display name, else the short one.
      let value = try value(range, isUnicode, cursor)
      guard !value.isEmpty else { return }
      edit {
        if tag == 0x3707 || $0.longName.isEmpty && tag == 0x3001 {
          $0.longName = value
          $0.isLongNameUnicode = isUnicode
        } else if $0.name.isEmpty, tag == 0x3704 {
          $0.name = value
        }
      }
    case (0x370e, true):
      let type = try value(range, isUnicode, cursor)
      edit { $0.contentType = type }
    case (0x3712, true):
      let id = try value(range, isUnicode, cursor)
      edit { $0.contentID = id }
    case (0x3701, true) where range.upperBound - range.lowerBound > 16:
      // An object's interface id comes first; that of a message is 00020307-….
      var head = cursor.reading(range)
      let interface = try head.u32()
      let isMessage = kind == 0x0d && interface == 0x0002_0307
      let start = kind == 0x0d ? range.lowerBound + 16 : range.lowerBound
      // An object replaces the attribute of the file's data, which then contains a picture of it or nothing useful.
      edit {
        if $0.data == nil || isMessage {
          $0.data = start..<range.upperBound
          $0.isMessage = isMessage
        }
      }
    case (0x1000, false): text = (try Self.unterminated(range, isUnicode ? 2 : 1, cursor.source), isUnicode)
    case (0x1013, false): html = try Self.unterminated(range, 1, cursor.source)
    case (0x1009, false): rtf = range
    case (_, false) where kind == 0x1e || isUnicode:
      message.take(tag, TNEFMessage.Text(bytes: try value(range, isUnicode, cursor), isUnicode: isUnicode))
    default: break
    }
  }

  /// Returns a text's range without terminating zeros.
  private static func unterminated(_ range: Range<Int64>, _ width: Int64, _ source: any ByteSource) throws(Fault)
    -> Range<Int64>
  {
    var end = range.upperBound
    while end - width >= range.lowerBound, end > range.upperBound - 8 {
      let last = try source.bytes(at: end - width, count: Int(width))
      guard last.allSatisfy({ $0 == 0 }) else { break }
      end -= width
    }
    return range.lowerBound..<end
  }

  private func value(_ range: Range<Int64>, _ isUnicode: Bool, _ cursor: SourceCursor) throws(Fault) -> [UInt8] {
    var cursor = cursor.reading(range)
    let bytes = try cursor.bytes(Int(min(cursor.remaining, 2048)))
    guard isUnicode else { return Array(bytes.prefix { $0 != 0 }) }
    let units = stride(from: bytes.startIndex, to: bytes.endIndex - 1, by: 2).map {
      UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8
    }
    return Array(String(decoding: units.prefix { $0 != 0 }, as: UTF16.self).utf8)
  }
}

extension SourceCursor {
  /// Returns another cursor over a range of the same source.
  func reading(_ range: Range<Int64>) -> SourceCursor { SourceCursor(source, range) }
}
