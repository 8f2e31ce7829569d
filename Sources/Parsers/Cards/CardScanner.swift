public import Bytes

/// An incremental scanner for the entries of a file of calendars or cards (RFC 5545, RFC 6350, vCard 2.1).
///
/// Memory is bounded by the longest line that is kept, and by the lines of one entry.
public struct CardScanner: Sendable {
  /// An event, a task, a card, or another component of a calendar.
  public struct Entry: Sendable {
    /// The name of the component: `VEVENT`, `VCARD`, …
    public let kind: String
    /// The range in the file, in bytes, including the first and last line.
    public internal(set) var range: Range<Int64>
    /// The index of the entry's calendar in the file.
    public let calendar: Int
    /// The lines, without those of nested components.
    var lines: [ContentLine] = []
  }

  /// An item of the file.
  public enum Found: Sendable {
    case entry(Entry)
    /// A line of the calendar itself.
    case head(calendar: Int, Range<Int64>)
  }

  /// The incomplete physical line at the end of the last piece.
  private var line: [UInt8] = []
  /// The preceding lines, unfolded, which the current line may continue.
  private var folded: [UInt8] = []
  private var foldedRange: Range<Int64> = 0..<0
  private var place: Int64 = 0
  private var endsAtCR = false
  /// Whether bytes are omitted. The first ones and the last one are kept.
  private var isLineTooLong = false
  private var isFoldTooLong = false
  private var entry: Entry?
  private var kept = 0
  /// The nesting level within the entry.
  private var depth = 0
  private var isInCalendar = false
  private var calendars = 0

  /// The fault of a file that ends within an entry or a calendar. Known at the end.
  public private(set) var cut: Fault?
  /// The faults of the first text and the first picture of an entry that were skipped.
  public private(set) var lostText: Fault?
  public private(set) var lostPicture: Fault?

  /// The maximum sizes of a line and of the lines of an entry, in bytes. Lines beyond them are skipped.
  private static let longest = 16 << 20
  private static let mostKept = 24 << 20
  private static let mostLines = 4096
  /// A size that suffices for a name and its parameters, in bytes.
  private static let headSize = 4096
  static let pictures = ["PHOTO", "LOGO"]
  /// The lines that are never shown.
  private static let attachments: Set = ["ATTACH", "SOUND", "KEY"]

  public init() {}

  /// Returns whether a file with this start is a file of calendars or cards.
  public static func isStart(_ head: some Sequence<UInt8>) -> Bool {
    let text = head.drop { $0 == 0xef || $0 == 0xbb || $0 == 0xbf || $0 <= 0x20 }.prefix(15).map { $0 & 0xdf }
    return text.starts(with: "BEGIN:VCARD".utf8.map { $0 & 0xdf })
      || text.starts(with: "BEGIN:VCALENDAR".utf8.map { $0 & 0xdf })
  }

  /// Reads the next piece of the file and calls `take` for each item that ends in it.
  public mutating func read(_ piece: some Sequence<UInt8>, isLast: Bool, _ take: (Found) -> Void) {
    for byte in piece {
      place += 1
      if byte == 0x0a || byte == 0x0d {
        // CRLF is one line end.
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

  /// Ends a physical line, whose end is at `place`.
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
      // The last byte determines whether the line continues.
      folded.append(last)
      folded.removeSubrange(min(Self.headSize, folded.count - 1)..<(folded.count - 1))
    }
  }

  /// Ends a logical line with all of its folded parts.
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

  /// Records the loss of a line that is not kept.
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
