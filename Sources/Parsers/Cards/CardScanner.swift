public import Bytes

/// Finds the entries of a file of calendars or cards (RFC 5545, RFC 6350, vCard 2.1), in pieces as they come.
///
/// Memory is bounded by the longest line that is kept, and by the lines of one entry.
public struct CardScanner: Sendable {
  /// An event, a task, a card, or what else a calendar has.
  public struct Entry: Sendable {
    /// `VEVENT`, `VCARD`, …
    public let kind: String
    /// Where it is in the file, in bytes, its first and its last line included.
    public internal(set) var range: Range<Int64>
    /// Which of the file's calendars it is in.
    public let calendar: Int
    /// Those that are not of something within it.
    var lines: [ContentLine] = []
  }

  /// What was found.
  public enum Found: Sendable {
    case entry(Entry)
    /// A line of a calendar itself.
    case head(calendar: Int, Range<Int64>)
  }

  /// The physical line at the end of the last piece.
  private var line: [UInt8] = []
  /// The lines that it may go on, unfolded.
  private var folded: [UInt8] = []
  private var foldedRange: Range<Int64> = 0..<0
  private var place: Int64 = 0
  private var endsAtCR = false
  /// Of more of these than are kept, the first and the last one stay.
  private var isLineTooLong = false
  private var isFoldTooLong = false
  private var entry: Entry?
  private var kept = 0
  /// How deep within the entry.
  private var depth = 0
  private var isInCalendar = false
  private var calendars = 0

  /// That the file ends within an entry or a calendar; known at the end.
  public private(set) var cut: Fault?
  /// The first text of an entry that was passed over, and the first picture.
  public private(set) var lostText: Fault?
  public private(set) var lostPicture: Fault?

  /// Of a line, and of the lines of an entry, in bytes; what is beyond is passed over.
  private static let longest = 16 << 20
  private static let mostKept = 24 << 20
  private static let mostLines = 4096
  /// Enough for a name and its parameters, in bytes.
  private static let headSize = 4096
  static let pictures = ["PHOTO", "LOGO"]
  /// Shown nowhere.
  private static let attachments: Set = ["ATTACH", "SOUND", "KEY"]

  public init() {}

  /// Whether a file starts as one of these.
  public static func isStart(_ head: some Sequence<UInt8>) -> Bool {
    let text = head.drop { $0 == 0xef || $0 == 0xbb || $0 == 0xbf || $0 <= 0x20 }.prefix(15).map { $0 & 0xdf }
    return text.starts(with: "BEGIN:VCARD".utf8.map { $0 & 0xdf })
      || text.starts(with: "BEGIN:VCALENDAR".utf8.map { $0 & 0xdf })
  }

  /// Calls `take` with what ends in the next piece of the file.
  public mutating func read(_ piece: some Sequence<UInt8>, isLast: Bool, _ take: (Found) -> Void) {
    for byte in piece {
      place += 1
      if byte == 0x0a || byte == 0x0d {
        // CRLF is one end.
        if byte == 0x0a, endsAtCR {
          endsAtCR = false
          foldedRange = foldedRange.lowerBound..<place
          continue
        }
        endLine(take)
        endsAtCR = byte == 0x0d
        continue
      }
      if endsAtCR { endsAtCR = false }
      if line.count < Self.longest {
        line.append(byte)
      } else {
        isLineTooLong = true
        line[line.count - 1] = byte
      }
    }
    if isLast {
      if !line.isEmpty { endLine(take) }
      endFold(take)
      if let word = entry?.kind ?? (isInCalendar ? "VCALENDAR" : nil) {
        cut = Fault(.damaged, "expected END:\(word), found the end of the file", atByte: place)
      }
    }
  }

  /// At the end of a physical line, whose end is at `place`.
  private mutating func endLine(_ take: (Found) -> Void) {
    defer {
      line.removeAll(keepingCapacity: true)
      isLineTooLong = false
    }
    if let first = line.first, first == 0x20 || first == 0x09, !folded.isEmpty {
      append(line.dropFirst())
    } else if folded.last == UInt8(ascii: "="), ContentLine(folded.prefix(Self.headSize))?.isQuotedPrintable == true {
      folded.removeLast()
      append(line[...])
    } else {
      endFold(take)
      folded = line
      isFoldTooLong = isLineTooLong
      if place > Int64(line.count) { foldedRange = foldedRange.upperBound..<place } else { foldedRange = 0..<place }
      if folded.starts(with: [0xef, 0xbb, 0xbf]) { folded.removeFirst(3) }
      return
    }
    foldedRange = foldedRange.lowerBound..<place
  }

  private mutating func append(_ more: ArraySlice<UInt8>) {
    if isLineTooLong || folded.count + more.count > Self.longest { isFoldTooLong = true }
    if !isFoldTooLong {
      folded += more
    } else if let last = more.last {
      // Whether it goes on depends on it.
      folded.append(last)
      folded.removeSubrange(min(Self.headSize, folded.count - 1)..<(folded.count - 1))
    }
  }

  /// At the end of a line with all that was folded.
  private mutating func endFold(_ take: (Found) -> Void) {
    defer {
      folded.removeAll(keepingCapacity: true)
      isFoldTooLong = false
    }
    guard !folded.isEmpty else { return }
    let isFrame = folded.count < 256 && !isFoldTooLong
    if isFrame, let name = Self.name(in: folded, after: "BEGIN:") { return begin(name) }
    if isFrame, let name = Self.name(in: folded, after: "END:") { return end(name, take) }
    guard entry != nil else {
      if isInCalendar { take(.head(calendar: calendars - 1, foldedRange)) }
      return
    }
    guard depth == 0 else { return }
    guard !isFoldTooLong, kept + folded.count <= Self.mostKept, (entry?.lines.count ?? 0) < Self.mostLines
    else { return passOver() }
    guard let line = ContentLine(folded[...]) else { return }
    kept += folded.count
    entry?.lines.append(line)
  }

  /// Notes what is lost with a line that is not kept.
  private mutating func passOver() {
    guard let line = ContentLine(folded.prefix(Self.headSize)), !Self.attachments.contains(line.name) else { return }
    let isPicture = Self.pictures.contains(line.name)
    guard isPicture ? lostPicture == nil : lostText == nil else { return }
    let fault = Fault(
      .damaged,
      "expected at most \(Self.longest) bytes in a line and \(Self.mostKept) in an entry, passed over \(line.name)",
      atByte: foldedRange.lowerBound)
    if isPicture { lostPicture = fault } else { lostText = fault }
  }

  private static func name(in line: [UInt8], after word: String) -> String? {
    let text = String(decoding: line, as: UTF8.self).uppercased()
    guard text.hasPrefix(word) else { return nil }
    return text.dropFirst(word.count).filter { !$0.isWhitespace }
  }

  private mutating func begin(_ name: String) {
    if entry != nil {
      depth += 1
    } else if name == "VCALENDAR" {
      isInCalendar = true
      calendars += 1
    } else if isInCalendar || name == "VCARD" {
      entry = Entry(kind: name, range: foldedRange, calendar: max(0, calendars - 1))
      (kept, depth) = (0, 0)
    }
  }

  private mutating func end(_ name: String, _ take: (Found) -> Void) {
    if depth > 0 {
      depth -= 1
    } else if var found = entry {
      found.range = found.range.lowerBound..<foldedRange.upperBound
      entry = nil
      take(.entry(found))
    } else if name == "VCALENDAR" {
      isInCalendar = false
    }
  }
}
