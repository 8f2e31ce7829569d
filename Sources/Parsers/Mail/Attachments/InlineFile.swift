internal import Bytes
internal import Codecs

/// A file encoded in the text of a mail, by uuencode or yEnc.
struct InlineFile: Sendable, Equatable {
  enum Encoding: Sendable { case uuencode, yEnc }

  let encoding: Encoding
  /// As written, in an unknown character set.
  let name: [UInt8]
  /// The range in the text's bytes, from the start of the line `begin` or `=ybegin` to the end of the line `end` or
  /// `=yend`.
  let range: Range<Int64>
  /// The range of the encoded data.
  let data: Range<Int64>
  /// Damage of the file: an invalid line, a missing end, or a size or checksum that does not match.
  var damage: Fault?

  /// Finds the files in a text in any encoding, in one pass in bounded memory. Blocks.
  ///
  /// A line `begin 644 x` is only prose unless a line of uuencode follows, as is `=ybegin` without a name. A file
  /// without an end line ends before the first line that cannot belong to it. If valid lines follow soon, that line is
  /// damaged instead. At most 10,000 files are found.
  static func find(in text: any ByteSource) throws(Fault) -> [InlineFile] {
    var finder = InlineFileFinder()
    var window = SourceWindow(text, 0..<text.size)
    var place: Int64 = 0
    try window.move(to: 0)
    while place < text.size, finder.files.count < 10_000 {
      let from = Int(place - window.start)
      let bytes = unsafe window.bytes
      let newline = unsafe bytes.firstIndex(of: 0x0a, from: from)
      if newline == nil, !window.reachesEnd, from > 0 {
        try window.move(to: place)
        continue
      }
      // A line longer than the window comes in pieces, none of which starts like a file.
      let next = newline.map { $0 + 1 } ?? bytes.count
      unsafe finder.take(bytes[from..<next], at: place)
      place = window.start + Int64(next)
      if place >= window.start + Int64(window.count), place < text.size { try window.move(to: place) }
    }
    finder.finish(at: text.size)
    return finder.files
  }
}

/// Finds files line by line.
private struct InlineFileFinder {
  var files: [InlineFile] = []
  private var state = State.text
  /// The damage of the current file.
  private var damage: Fault?
  /// The check of the current file in yEnc.
  private var check = YEncCheck()

  /// The maximum number of consecutive damaged lines.
  private static let doubtfulLines = 4

  private enum State {
    case text
    /// After a line that may begin a file.
    case begun(InlineFile.Encoding, name: [UInt8], start: Int64, data: Int64)
    case inUU(name: [UInt8], start: Int64, data: Int64)
    /// After lines that do not belong to the file or are damaged: `lines` of them, the first at `end`.
    case doubtful(name: [UInt8], start: Int64, data: Int64, end: Int64, lines: Int)
    /// After the zero-length line, before `end`.
    case afterUU(name: [UInt8], start: Int64, data: Range<Int64>)
    case inYEnc(name: [UInt8], start: Int64, data: Int64)
  }

  /// Takes a line with its line end, if it has one.
  mutating func take(_ line: Slice<UnsafeRawBufferPointer>, at offset: Int64) {
    let end = unsafe offset + Int64(line.count)
    unsafe take(Self.text(of: line), at: offset, end)
    if case .inYEnc = state { unsafe check.take(line) }
  }

  /// Takes a line without its line end. `end` is the offset after the line end.
  private mutating func take(_ text: Slice<UnsafeRawBufferPointer>, at offset: Int64, _ end: Int64) {
    switch state {
    case .text: unsafe begin(text, offset, end)
    case .begun(.uuencode, let name, let start, let data):
      if let length = unsafe UUDecoder.length(of: text, isFirst: true) {
        state =
          length == 0
          ? .afterUU(name: name, start: start, data: data..<end) : .inUU(name: name, start: start, data: data)
      } else {
        state = .text
        unsafe begin(text, offset, end)
      }
    case .inUU(let name, let start, let data):
      if unsafe text.elementsEqual(Self.end) {
        add(.uuencode, name, start..<end, data..<offset)
      } else if let length = unsafe UUDecoder.length(of: text, isFirst: false) {
        if length == 0 { state = .afterUU(name: name, start: start, data: data..<end) }
      } else if unsafe !text.isEmpty {
        state = unsafe .doubtful(name: name, start: start, data: data, end: offset, lines: 1)
        unsafe doubt(text, offset, end)
      }
    case .doubtful: unsafe doubt(text, offset, end)
    case .afterUU(let name, let start, let data):
      let isEnd = unsafe text.elementsEqual(Self.end)
      if unsafe text.isEmpty { return }
      add(.uuencode, name, start..<(isEnd ? end : data.upperBound), data)
      if !isEnd { unsafe begin(text, offset, end) }
    case .begun(.yEnc, let name, let start, let data):
      check = YEncCheck()
      state = .inYEnc(name: name, start: start, data: data)
      if unsafe text.starts(with: Self.yPart) {
        state = .inYEnc(name: name, start: start, data: end)
      } else {
        unsafe takeYEnc(text, offset, end)
      }
    case .inYEnc: unsafe takeYEnc(text, offset, end)
    }
  }

  mutating func finish(at end: Int64) {
    switch state {
    case .text, .begun: break
    case .inUU(let name, let start, let data):
      noteMissingEnd(at: end)
      add(.uuencode, name, start..<end, data..<end)
    case .doubtful(let name, let start, let data, let last, _):
      noteMissingEnd(at: last)
      add(.uuencode, name, start..<last, data..<last)
    case .afterUU(let name, let start, let data): add(.uuencode, name, start..<data.upperBound, data)
    case .inYEnc(let name, let start, let data):
      noteMissingEnd(of: "yEnc-encoded", at: end)
      add(.yEnc, name, start..<end, data..<end)
    }
  }

  private mutating func noteMissingEnd(of kind: String = "uuencoded", at offset: Int64) {
    damage = damage ?? Fault(.damaged, "expected the end of a \(kind) file, found none", atByte: offset)
  }

  /// Decides whether a file continues after invalid lines: at the next line with the length required of a first line.
  private mutating func doubt(_ text: Slice<UnsafeRawBufferPointer>, _ offset: Int64, _ end: Int64) {
    guard case .doubtful(let name, let start, let data, let last, let lines) = state else { return }
    let isEnd = unsafe text.elementsEqual(Self.end)
    let length = unsafe UUDecoder.length(of: text, isFirst: true)
    if isEnd || length != nil && offset > last {
      damage = damage ?? Fault(.damaged, "expected a line of uuencode, found something else", atByte: last)
      state = .inUU(name: name, start: start, data: data)
      return unsafe take(text, at: offset, end)
    }
    let mayGoOn =
      unsafe !text.isEmpty && text.count < 200 && !text.starts(with: Self.begin) && !text.starts(with: Self.yBegin)
    if lines < Self.doubtfulLines, mayGoOn {
      state = .doubtful(name: name, start: start, data: data, end: last, lines: lines + 1)
      return
    }
    noteMissingEnd(at: last)
    add(.uuencode, name, start..<last, data..<last)
    unsafe begin(text, offset, end)
  }

  private mutating func takeYEnc(_ text: Slice<UnsafeRawBufferPointer>, _ offset: Int64, _ end: Int64) {
    guard case .inYEnc(let name, let start, let data) = state, unsafe text.starts(with: Self.yEnd) else { return }
    damage = unsafe check.damage(by: String(decoding: text, as: UTF8.self))
    damage?.offset = offset
    add(.yEnc, name, start..<end, data..<offset)
  }

  private mutating func add(
    _ encoding: InlineFile.Encoding, _ name: [UInt8], _ range: Range<Int64>, _ data: Range<Int64>
  ) {
    files.append(InlineFile(encoding: encoding, name: name, range: range, data: data, damage: damage))
    state = .text
    damage = nil
  }

  private mutating func begin(_ text: Slice<UnsafeRawBufferPointer>, _ offset: Int64, _ end: Int64) {
    guard unsafe text.count > 8, unsafe text.count < 1024 else { return }
    if unsafe text.starts(with: Self.yBegin) {
      guard let name = unsafe Self.yName(Array(text)) else { return }
      state = .begun(.yEnc, name: name, start: offset, data: end)
    } else if unsafe text.starts(with: Self.begin), let name = unsafe Self.uuName(Array(text.dropFirst(6))) {
      state = .begun(.uuencode, name: name, start: offset, data: end)
    }
  }

  private static let begin = Array("begin ".utf8)
  private static let end = Array("end".utf8)
  private static let yBegin = Array("=ybegin ".utf8)
  private static let yPart = Array("=ypart ".utf8)
  private static let yEnd = Array("=yend".utf8)

  /// Returns a line without its line end.
  private static func text(of line: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
    var end = unsafe line.endIndex
    while unsafe end > line.startIndex, unsafe line[end - 1] == 0x0a || line[end - 1] == 0x0d { end -= 1 }
    return unsafe line[line.startIndex..<end]
  }

  /// Parses `644 name`: three or four octal digits and a name.
  private static func uuName(_ text: [UInt8]) -> [UInt8]? {
    let mode = text.prefix { (0x30...0x37).contains($0) }
    guard (3...4).contains(mode.count), text.count > mode.count + 1, text[mode.count] == 0x20 else { return nil }
    let name = trimmed(text[(mode.count + 1)...])
    return name.isEmpty ? nil : name
  }

  /// Returns the name after `name=`, which is the last parameter.
  private static func yName(_ text: [UInt8]) -> [UInt8]? {
    let key = Array(" name=".utf8)
    guard let start = text.indices.first(where: { text[$0...].starts(with: key) }) else { return nil }
    var name = trimmed(text[(start + key.count)...])
    if name.count >= 2, name.first == 0x22, name.last == 0x22 { name = Array(name.dropFirst().dropLast()) }
    return name.isEmpty ? nil : name
  }

  private static func trimmed(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var text = text.drop { $0 == 0x20 || $0 == 0x09 }
    while let last = text.last, last == 0x20 || last == 0x09 { text.removeLast() }
    return Array(text)
  }
}

/// The comparison of a file in yEnc with the size and the checksum in its last line (yEnc 1.3).
private struct YEncCheck {
  private var decoder = YEncDecoder()
  private var crc = CRC32()
  private var size: Int64 = 0
  private var buffer: [UInt8] = []

  /// Takes a line of data, with its line end. Lines of yEnc's own are ignored.
  mutating func take(_ line: Slice<UnsafeRawBufferPointer>) {
    if unsafe line.starts(with: [0x3d, 0x79]) { return }
    let room = unsafe line.count + 16
    if buffer.count < room { buffer = [UInt8](repeating: 0, count: room) }
    unsafe buffer.withUnsafeMutableBytes { output in
      let made = unsafe decoder.decode(UnsafeRawBufferPointer(rebasing: line), into: output, isLast: false).made
      unsafe crc.update(UnsafeRawBufferPointer(rebasing: output[..<made]))
      size += Int64(made)
    }
  }

  /// Returns the damage that a line `=yend size=… crc32=…` shows. Of a part, `pcrc32` is the checksum.
  func damage(by line: String) -> Fault? {
    let fields = line.split(separator: " ").reduce(into: [Substring: Substring]()) { fields, word in
      if let equals = word.firstIndex(of: "=") { fields[word[..<equals]] = word[word.index(after: equals)...] }
    }
    if let told = fields["size"].flatMap({ Int64($0) }), told != size {
      return Fault(.damaged, "expected \(told) bytes of yEnc, found \(size)")
    }
    let sum = fields["pcrc32"] ?? (fields["part"] == nil ? fields["crc32"] : nil)
    guard let expected = sum.flatMap({ UInt32($0, radix: 16) }), expected != crc.value else { return nil }
    return Fault(crc: expected, found: crc.value)
  }
}
