internal import Bytes

/// Finds the parts of a message (RFC 2046 §5.1) in one sequential pass, in a bounded buffer.
///
/// A delimiter is a line of `--`, the boundary, optionally `--`, and white space. It counts wherever its multipart is
/// open, and closes nested ones. Multiparts are on an explicit stack, and delimiters are looked up in a table, so
/// neither the depth nor the number of parts slows the scan. Attached messages are not parsed.
struct PartScanner: ~Copyable {
  static let depthLimit = 20_000
  static let partLimit = 200_000
  /// The maximum length of a boundary, in bytes.
  static let boundaryLimit = 1024

  private struct Multipart {
    let part: Int
    let boundary: [UInt8]
    var count = 0
  }

  private struct Delimiter {
    /// The index of its multipart on the stack.
    let level: Int
    let isClose: Bool
    /// The offset of the line break before it, and of the next line.
    let end: Int64
    let next: Int64
  }

  private struct Line {
    /// Without its line end, and possibly truncated.
    let text: [UInt8]
    let next: Int64
  }

  private let size: Int64
  private var window: SourceWindow
  /// The source, if it has known ranges where no part can start.
  private let outline: OutlinedMessage?
  private(set) var parts: [Part] = []
  /// The limit that was exceeded, if any.
  private(set) var fault: Fault?
  /// The first character set that a part declares.
  private var declared: String?
  private var stack: [Multipart] = []
  /// The stack indices of each boundary, outermost first.
  private var levels: [[UInt8]: [Int]] = [:]

  init(_ source: any ByteSource) {
    size = source.size
    window = SourceWindow(source, 0..<source.size)
    outline = source as? OutlinedMessage
  }

  /// Moves the window, up to the next range where no part can start.
  private mutating func move(to offset: Int64) throws(Fault) {
    if let file = outline?.file(endingAfter: offset), file.lowerBound > offset {
      try window.move(to: offset, before: file.lowerBound)
    } else {
      try window.move(to: offset)
    }
  }

  /// Fills `parts`. The message itself is first, and each part follows the multipart that contains it. Blocks.
  mutating func scan() throws(Fault) {
    var leaf = try add(at: 0, parent: nil)
    var place = parts[0].body.lowerBound
    while let delimiter = try nextDelimiter(from: place) {
      if let last = leaf {
        parts[last].body = parts[last].body.lowerBound..<max(parts[last].body.lowerBound, delimiter.end)
      }
      leaf = nil
      close(downTo: delimiter.level + (delimiter.isClose ? 0 : 1), at: delimiter.end)
      place = delimiter.next
      if delimiter.isClose { continue }
      guard parts.count < Self.partLimit else {
        fault = fault ?? Fault(.limit, "more than \(Self.partLimit) parts", atByte: place)
        break
      }
      leaf = try add(at: place, parent: delimiter.level)
      if let last = parts.last { place = last.body.lowerBound }
    }
    close(downTo: 0, at: size)
  }

  /// Reads the header section at the start of the source.
  mutating func header() throws(Fault) -> Header { Header(try section(at: 0).bytes[...]) }

  /// Reads a part's header. Returns the part's index unless it is a multipart.
  private mutating func add(at place: Int64, parent level: Int?) throws(Fault) -> Int? {
    let (bytes, body) = try section(at: place)
    let header = Header(bytes[...])
    let parent = level.map { stack[$0].part }
    let part = Part(
      header, at: place, parent: parent, position: level.map { stack[$0].count } ?? 0,
      isInDigest: parent.map { parts[$0].isDigest } ?? false, declared: declared, body: body..<size)
    declared = declared ?? part.charset
    if let level { stack[level].count += 1 }
    let number = parts.count
    parts.append(part)
    guard part.kind == .multipart else { return number }
    guard stack.count < Self.depthLimit else {
      fault = fault ?? Fault(.limit, "parts nested deeper than \(Self.depthLimit)", atByte: place)
      parts[number].becomePlain()
      return number
    }
    guard let boundary = header.contentType?.boundary, boundary.count <= Self.boundaryLimit else {
      parts[number].becomePlain()
      return number
    }
    levels[boundary, default: []].append(stack.count)
    stack.append(Multipart(part: number, boundary: boundary))
    return nil
  }

  /// Closes all multiparts except the outermost `count`.
  private mutating func close(downTo count: Int, at end: Int64) {
    while stack.count > count, let last = stack.popLast() {
      levels[last.boundary]?.removeLast()
      if levels[last.boundary]?.isEmpty == true { levels[last.boundary] = nil }
      parts[last.part].body = parts[last.part].body.lowerBound..<max(parts[last.part].body.lowerBound, end)
      if last.count == 0 { parts[last.part].becomePlain() }
    }
  }

  // MARK: Delimiters

  /// Returns the next delimiter at or after `place`, the start of a line.
  private mutating func nextDelimiter(from place: Int64) throws(Fault) -> Delimiter? {
    guard !stack.isEmpty else { return nil }
    let longest = Self.boundaryLimit + 1024
    var from = place
    if from < window.start || from > window.start + Int64(window.count) { try move(to: from) }
    while true {
      if let file = outline?.file(endingAfter: from), file.contains(from) {
        from = file.upperBound
        try move(to: from)
        continue
      }
      let bytes = unsafe window.bytes
      guard let dash = unsafe bytes.firstIndex(of: 0x2d, from: Int(from - window.start)) else {
        if window.reachesEnd { return nil }
        from = window.start + Int64(window.count)
        // The preceding bytes determine whether a line starts, and the last line break.
        try move(to: max(place, from - 2))
        continue
      }
      let offset = window.start + Int64(dash)
      let isAtLineStart = unsafe offset == place || dash > 0 && (bytes[dash - 1] == 0x0a || bytes[dash - 1] == 0x0d)
      if isAtLineStart, dash + longest > bytes.count, !window.reachesEnd {
        from = offset
        let start = max(place, offset - 2)
        if start > window.start {
          try move(to: start)
          continue
        }
      }
      var end = dash + 1
      if isAtLineStart, end < bytes.count, unsafe bytes[end] == 0x2d,
        let found = unsafe delimiter(bytes, at: dash, place)
      {
        return found
      }
      while end < bytes.count, unsafe bytes[end] == 0x2d { end += 1 }
      from = window.start + Int64(end)
      if end == bytes.count, !window.reachesEnd {
        // A run of dashes that continues is not the start of a line.
        try move(to: max(place, from - 2))
      }
    }
  }

  /// Returns the delimiter in the line at `start` of the window. Returns `nil` if the line is not a delimiter.
  private func delimiter(_ bytes: UnsafeRawBufferPointer, at start: Int, _ place: Int64) -> Delimiter? {
    let limit = min(bytes.count, start + Self.boundaryLimit + 1024)
    var end = start + 2
    while end < limit, unsafe bytes[end] != 0x0a && bytes[end] != 0x0d { end += 1 }
    guard end < bytes.count || window.reachesEnd, let (level, isClose) = unsafe match(bytes[(start + 2)..<end]) else {
      return nil
    }
    var next = end
    if next < bytes.count, unsafe bytes[next] == 0x0d { next += 1 }
    if next < bytes.count, unsafe bytes[next] == 0x0a { next += 1 }
    var before = start
    if window.start + Int64(before) > place {
      if before > 0, unsafe bytes[before - 1] == 0x0a { before -= 1 }
      if before > 0, unsafe bytes[before - 1] == 0x0d { before -= 1 }
    }
    return Delimiter(
      level: level, isClose: isClose, end: max(place, window.start + Int64(before)), next: window.start + Int64(next))
  }

  /// Matches a line after its two dashes.
  private func match(_ line: Slice<UnsafeRawBufferPointer>) -> (level: Int, isClose: Bool)? {
    var end = unsafe line.endIndex
    while unsafe end > line.startIndex, unsafe line[end - 1] == 0x20 || line[end - 1] == 0x09 { end -= 1 }
    guard unsafe end - line.startIndex <= Self.boundaryLimit + 2 else { return nil }
    var text = unsafe [UInt8](line[line.startIndex..<end])
    let asStart = levels[text]?.last
    var asEnd: Int?
    if text.count >= 2, text.suffix(2).elementsEqual([0x2d, 0x2d]) {
      text.removeLast(2)
      asEnd = levels[text]?.last
    }
    // A boundary may equal another one followed by two dashes: the innermost is used.
    if let asStart, asStart >= asEnd ?? 0 { return (asStart, false) }
    return asEnd.map { ($0, true) }
  }

  // MARK: Headers

  /// Returns the fields of the section at `place`, and the offset of the body.
  ///
  /// The section ends at an empty line or at a delimiter, also of the multipart that it declares. It also ends at a
  /// line that is not a field, unless a field follows: that line is a fold without its space, or a quoted separator.
  /// Beyond `Header.limit` a section is truncated.
  private mutating func section(at place: Int64) throws(Fault) -> (bytes: [UInt8], body: Int64) {
    var bytes: [UInt8] = []
    var hasField = false
    var odd: (start: Int64, isParameter: Bool)?
    var own = OwnBoundary()
    var from = place
    let endsAtCR = try endsAtCR(at: place)
    while from < size {
      let line = try line(at: from, endsAtCR: endsAtCR, limit: max(1024, Header.limit - bytes.count))
      let text = line.text
      if text.starts(with: [0x2d, 0x2d]) {
        let isOuter = unsafe !stack.isEmpty && text.withUnsafeBytes({ unsafe match($0.dropFirst(2)) }) != nil
        if isOuter || own.starts(text, in: bytes) { return (bytes, odd?.start ?? from) }
      }
      if text.isEmpty {
        if let odd, !hasField || !odd.isParameter { return (bytes, odd.start) }
        return (bytes, line.next)
      }
      let isFold = text[0] == 0x20 || text[0] == 0x09
      if isFold, odd == nil, hasField {
        if bytes.count < Header.limit { bytes += text + [0x0a] }
      } else if !isFold, let nameEnd = FieldCursor.name(text.span, 0, text.count) {
        own.note(text.span.extracting(first: nameEnd), at: bytes.count)
        odd = nil
        hasField = true
        if bytes.count < Header.limit { bytes += text + [0x0a] }
      } else if !isFold, let odd {
        return (bytes, odd.start)
      } else if !isFold, Self.isSeparator(text) {
        // Neither a field nor the body.
      } else if odd == nil {
        odd = (from, text.contains(0x3d))
      }
      if bytes.count >= Header.limit { fault = fault ?? Fault(.limit, "a header of more than 1 MiB", atByte: place) }
      from = line.next
    }
    return (bytes, odd?.start ?? size)
  }

  private static func isSeparator(_ text: [UInt8]) -> Bool {
    text.drop { $0 == 0x3e }.starts(with: Array("From ".utf8))
  }

  private mutating func endsAtCR(at place: Int64) throws(Fault) -> Bool {
    guard place < size else { return false }
    if place + 4096 > window.start + Int64(window.count), !window.reachesEnd || place < window.start {
      try move(to: place)
    }
    let bytes = unsafe window.bytes
    var end = Int(place - window.start)
    guard end >= 0 else { return false }
    // No further than the first line: there may be very many parts.
    while end < bytes.count, unsafe bytes[end] != 0x0a && bytes[end] != 0x0d { end += 1 }
    guard end < bytes.count, unsafe bytes[end] == 0x0d else { return false }
    while end < bytes.count, unsafe bytes[end] == 0x0d { end += 1 }
    return unsafe end == bytes.count || bytes[end] != 0x0a
  }

  /// Reads the line that starts at `place`, truncated to `limit` bytes.
  private mutating func line(at place: Int64, endsAtCR: Bool, limit: Int) throws(Fault) -> Line {
    var text: [UInt8] = []
    var from = place
    if from < window.start || from >= window.start + Int64(window.count) { try move(to: from) }
    while true {
      let bytes = unsafe window.bytes
      let local = Int(from - window.start)
      var end = unsafe bytes.firstIndex(of: 0x0a, from: local)
      if endsAtCR, let cr = unsafe bytes.firstIndex(of: 0x0d, in: local..<(end ?? bytes.count)) { end = cr }
      // A CR at the window's end may belong to a CRLF.
      if end == nil || end == bytes.count - 1, !window.reachesEnd, local > 0 {
        try move(to: from)
        continue
      }
      let stop = end ?? bytes.count
      unsafe text += bytes[local..<min(stop, local + max(0, limit - text.count))]
      guard let end else {
        from = window.start + Int64(stop)
        if window.reachesEnd { return Line(text: text, next: from) }
        try move(to: from)
        continue
      }
      while text.last == 0x0d { text.removeLast() }
      let isCRLF = unsafe bytes[end] == 0x0d && end + 1 < bytes.count && bytes[end + 1] == 0x0a
      return Line(text: text, next: window.start + Int64(end) + (isCRLF ? 2 : 1))
    }
  }
}

/// The boundary that a header section declares, found while the section is read.
private struct OwnBoundary {
  /// The offset of the first `Content-Type`.
  private var field: Int?
  /// Nil until it is needed. Empty if there is none.
  private var boundary: [UInt8]?

  mutating func note(_ name: Span<UInt8>, at offset: Int) {
    if field == nil, name.equalsIgnoringCase("content-type") { field = offset }
  }

  /// Returns whether a line that starts with `--` is the delimiter. `section` contains the preceding lines.
  mutating func starts(_ line: [UInt8], in section: [UInt8]) -> Bool {
    guard let field else { return false }
    // The field has ended before this line.
    let known = boundary ?? Header(section[field...]).contentType.flatMap { $0.isMultipart ? $0.boundary : nil } ?? []
    boundary = known
    guard !known.isEmpty, known.count <= PartScanner.boundaryLimit else { return false }
    return line[2...].starts(with: known) && line.dropFirst(2 + known.count).allSatisfy { $0 == 0x20 || $0 == 0x09 }
  }
}
