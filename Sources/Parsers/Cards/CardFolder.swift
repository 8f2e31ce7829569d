public import Bytes
internal import Text

/// The entries of a file of calendars or cards, each as a separate file.
public struct CardFolder: Sendable {
  public struct File: Sendable {
    /// The name, which is safe but not unique.
    public let name: [UInt8]
    /// The size in bytes.
    public let size: Int64
    fileprivate let content: Content
  }

  fileprivate enum Content: Sendable {
    /// A prefix, ranges of the source, and a suffix.
    case entry([UInt8], [Range<Int64>], [UInt8])
    /// A picture: the range of its entry in the source, and the name of its line.
    case picture(Range<Int64>, name: String)
  }

  public private(set) var files: [File] = []
  /// The fault because of which files are missing: the source ends within an entry, or a picture is too large.
  public let fault: Fault?

  private static let piece: Int64 = 256 << 10
  private static let most = 1 << 20
  private static let longestName = 120

  /// Reads the whole source. Blocks. Throws `damaged` if it has no entries.
  public init(_ source: any ByteSource) throws(Fault) {
    var reading = CardScan()
    var scanner = CardScanner()
    var place: Int64 = 0
    while place < source.size {
      let count = min(Self.piece, source.size - place)
      let bytes = try source.bytes(at: place, count: Int(count))
      place += count
      scanner.read(bytes, isLast: place >= source.size) { reading.take($0) }
      guard reading.entries.count <= Self.most else { throw Fault(.limit, "has more than \(Self.most) entries") }
    }
    fault = scanner.cut ?? scanner.lostPicture
    if reading.isEmpty { throw fault ?? Fault(.damaged, "expected a calendar or cards, found no entry") }
    let endsInLine = try source.bytes(at: source.size - 1, count: 1).first.map { $0 == 0x0a || $0 == 0x0d } ?? true
    let lineEnd = Array("\r\n".utf8)
    for entry in reading.entries {
      var (front, back): ([UInt8], [UInt8]) = ([], [])
      var ranges = entry.ranges
      let isLast = ranges.last.map { $0.upperBound == source.size } ?? false
      if isLast, !endsInLine { back += lineEnd }
      if !entry.isCard {
        front = Array("BEGIN:VCALENDAR\r\n".utf8)
        ranges = reading.heads[entry.calendar, default: []] + reading.zones(of: entry) + ranges
        back += Array("END:VCALENDAR\r\n".utf8)
      }
      let size = ranges.reduce(Int64(front.count + back.count)) { $0 + $1.upperBound - $1.lowerBound }
      let ending = entry.isCard ? ".vcf" : ".ics"
      files.append(File(name: Self.name(entry.name, ending), size: size, content: .entry(front, ranges, back)))
      for picture in entry.pictures {
        files.append(
          File(
            name: Self.name(entry.name, picture.ending), size: Int64(picture.size),
            content: .picture(entry.ranges[0], name: picture.name)))
      }
    }
  }

  private static func name(_ title: String, _ ending: String) -> [UInt8] {
    var plain = String.UnicodeScalarView()
    for scalar in title.unicodeScalars.prefix(longestName) {
      plain.append(scalar == "/" ? "-" : scalar.properties.generalCategory == .control ? " " : scalar)
    }
    let words = String(plain).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return SafeName.cut(
      SafeName.safe(ArraySlice(words.utf8)) + Array(ending.utf8), keepingExtensionTo: SafeName.longest)
  }

  /// Opens a file. `source` must be unchanged since it was listed. Blocks.
  public func open(_ index: Int, of source: any ByteSource) throws(Fault) -> any ByteSource {
    switch files[index].content {
    case .entry(let front, let ranges, let back):
      var parts: [any ByteSource] = [ByteArraySource(front)]
      for range in ranges {
        parts.append(ByteRange(of: source, start: range.lowerBound, size: range.upperBound - range.lowerBound))
      }
      return try JoinedSource((parts + [ByteArraySource(back)]).filter { $0.size > 0 }.map { (FileName(""), $0) })
    case .picture(let range, let name):
      let bytes = try source.bytes(at: range.lowerBound, count: Int(range.upperBound - range.lowerBound))
      var picture: [UInt8]?
      var scanner = CardScanner()
      scanner.read(bytes, isLast: true) { found in
        if case .entry(let entry) = found { picture = entry.first(name)?.picture?.bytes }
      }
      guard let picture else { throw Fault(.damaged, "expected a picture", atByte: range.lowerBound) }
      return ByteArraySource(picture)
    }
  }
}

/// The entries found so far.
private struct CardScan {
  struct Entry {
    let name: String
    let calendar: Int
    let isCard: Bool
    /// The ranges of the entry, or of all entries of its series.
    var ranges: [Range<Int64>]
    var zones: Set<String>
    var pictures: [(name: String, ending: String, size: Int)] = []
  }

  private(set) var entries: [Entry] = []
  private(set) var heads: [Int: [Range<Int64>]] = [:]
  private var zones: [Int: [String: Range<Int64>]] = [:]
  private var series: [String: Int] = [:]
  var isEmpty: Bool { entries.isEmpty && heads.isEmpty && zones.isEmpty }

  private static let endings = ["jpeg": "jpg", "jpg": "jpg", "png": "png", "gif": "gif", "bmp": "bmp", "webp": "webp"]

  mutating func take(_ found: CardScanner.Found) {
    switch found {
    case .head(let calendar, let range): heads[calendar, default: []].append(range)
    case .entry(let entry) where entry.kind == "VTIMEZONE":
      if let name = entry.text("TZID") { zones[entry.calendar, default: [:]][name] = entry.range }
    case .entry(let entry): add(entry)
    }
  }

  private mutating func add(_ entry: CardScanner.Entry) {
    guard let title = entry.title else { return }
    let used = Set(entry.lines.flatMap { $0.values(of: "TZID") })
    let isCard = entry.kind == "VCARD"
    let key = "\(entry.calendar) \(entry.kind) \(entry.text("UID") ?? "")"
    if !isCard, entry.text("UID") != nil, let known = series[key] {
      entries[known].ranges.append(entry.range)
      entries[known].zones.formUnion(used)
      return
    }
    if !isCard { series[key] = entries.count }
    let name = isCard ? title : entry.start.map { "\($0.date) \(title)" } ?? title
    var made = Entry(name: name, calendar: entry.calendar, isCard: isCard, ranges: [entry.range], zones: used)
    for name in CardScanner.pictures where isCard {
      guard let picture = entry.first(name)?.picture else { continue }
      made.pictures.append(
        (name, "." + (Self.endings[picture.kind] ?? Self.ending(picture.bytes)), picture.bytes.count))
    }
    entries.append(made)
  }

  private static func ending(_ bytes: [UInt8]) -> String {
    if bytes.starts(with: [0xff, 0xd8]) { return "jpg" }
    if bytes.starts(with: [0x89, 0x50, 0x4e, 0x47]) { return "png" }
    return bytes.starts(with: Array("GIF8".utf8)) ? "gif" : "bin"
  }

  func zones(of entry: Entry) -> [Range<Int64>] {
    entry.zones.compactMap { zones[entry.calendar]?[$0] }.sorted { $0.lowerBound < $1.lowerBound }
  }
}
