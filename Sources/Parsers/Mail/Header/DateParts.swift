internal import Text

/// The parts of a date in a text, distinguished by their form.
struct DateParts {
  private(set) var year: Int?
  private(set) var month: Int?
  private(set) var day: Int?
  private(set) var hour = 0
  private(set) var minute = 0
  private(set) var second = 0
  /// The zone, in minutes east of Greenwich.
  private(set) var zone: Int?
  private var hasTime = false
  private var index = 0

  /// The maximum length of a date, in bytes. The rest of a longer text is ignored.
  private static let limit = 200

  init() {}

  /// Parses all of `text`. Returns whether it may be a date.
  mutating func read(_ text: Span<UInt8>) -> Bool {
    let count = min(text.count, DateParts.limit)
    while index < count {
      let byte = text[index]
      if byte.isAsciiDigit {
        guard readNumber(text, count) else { return false }
      } else if byte.isAsciiLetter || byte >= 0x80 {
        readWord(text, count)
      } else if byte == 0x2b || byte == 0x2d {
        index += 1
        if index < count, text[index].isAsciiDigit, hasTime, zone == nil {
          zone = readZone(text, count, isWest: byte == 0x2d)
        }
      } else if byte == 0x28 {
        skipComment(text, count)
      } else {
        index += 1
      }
    }
    return true
  }

  /// Reads the digits at `index`, at most nine of which are used.
  private mutating func digits(_ text: Span<UInt8>, _ count: Int) -> (value: Int, count: Int) {
    let start = index
    var value = 0
    while index < count, text[index].isAsciiDigit {
      if index - start < 9 { value = value * 10 + Int(text[index] - 0x30) }
      index += 1
    }
    return (value, index - start)
  }

  private mutating func readNumber(_ text: Span<UInt8>, _ count: Int) -> Bool {
    let (value, length) = digits(text, count)
    guard length <= 9 else { return false }
    let next = index < count ? text[index] : 0x20
    if length == 8, year == nil, !hasTime {
      return readBasic(text, count, value)
    } else if next == 0x2e, length <= 2, index + 1 < count, text[index + 1].isAsciiDigit, !hasTime {
      if day == nil { readJoined(text, count, value, length) } else { readTime(text, count, hour: value) }
    } else if next == 0x3a, !hasTime, length <= 2 {
      readTime(text, count, hour: value)
    } else if next == 0x2d || next == 0x2f, day == nil || length == 4, !hasTime {
      readJoined(text, count, value, length)
    } else if length == 4 {
      year = year ?? value
    } else if length == 3 {
      year = year ?? 1900 + value
    } else if length <= 2 {
      if day == nil { day = value } else if year == nil { year = DateParts.fullYear(value) }
    }
    return true
  }

  /// Returns the full year of a short one (RFC 5322 §4.3).
  private static func fullYear(_ short: Int) -> Int { short < 50 ? 2000 + short : 1900 + short }

  /// Reads `20240506T100000` after the day (ISO 8601's basic format).
  private mutating func readBasic(_ text: Span<UInt8>, _ count: Int, _ value: Int) -> Bool {
    (year, month, day) = (value / 10_000, value / 100 % 100, value % 100)
    guard index + 1 < count, text[index] == 0x54, text[index + 1].isAsciiDigit else { return true }
    index += 1
    let time = digits(text, count)
    guard time.count == 6 else { return time.count == 4 ? read(hours: time.value / 100, time.value % 100, 0) : false }
    return read(hours: time.value / 10_000, time.value / 100 % 100, time.value % 100)
  }

  private mutating func read(hours: Int, _ minutes: Int, _ seconds: Int) -> Bool {
    hasTime = true
    (hour, minute, second) = (hours, minutes, seconds)
    return true
  }

  /// Reads a time after the hour, where a colon or a dot follows.
  private mutating func readTime(_ text: Span<UInt8>, _ count: Int, hour: Int) {
    hasTime = true
    self.hour = hour
    let mark = text[index]
    index += 1
    minute = digits(text, count).value
    guard index < count, text[index] == mark else { return }
    index += 1
    second = digits(text, count).value
    // Fractions are ignored.
    if index + 1 < count, text[index] == 0x2e, text[index + 1].isAsciiDigit {
      index += 1
      _ = digits(text, count)
    }
  }

  /// Reads `1-Jan-2018`, `2018-01-01`, `2018/01/01`, `5/6/2018` or `6.5.2018` after the first number.
  private mutating func readJoined(_ text: Span<UInt8>, _ count: Int, _ value: Int, _ length: Int) {
    let mark = text[index]
    index += 1
    if length <= 2, mark != 0x2d, index < count, text[index].isAsciiDigit {
      readNumeric(text, count, value, mark)
      return
    }
    if length == 4 {
      year = year ?? value
      let number = digits(text, count)
      if number.count > 0, number.value <= 12, number.value > 0 { month = month ?? number.value }
      guard index < count, text[index] == 0x2d || text[index] == 0x2f else { return }
      index += 1
      let last = digits(text, count)
      if last.count > 0 { day = day ?? last.value }
      return
    }
    day = day ?? value
    guard index < count, text[index].isAsciiLetter else { return }
    readWord(text, count)
    guard index < count, text[index] == 0x2d || text[index] == 0x2f else { return }
    index += 1
    let last = digits(text, count)
    if last.count > 0 { year = year ?? (last.count <= 2 ? DateParts.fullYear(last.value) : last.value) }
  }

  /// Reads a numeric date after the first number and its separator. With slashes the month is first, as in American
  /// usage, unless it would be invalid.
  private mutating func readNumeric(_ text: Span<UInt8>, _ count: Int, _ first: Int, _ mark: UInt8) {
    let second = digits(text, count).value
    guard index < count, text[index] == mark else {
      day = day ?? first
      return
    }
    index += 1
    let last = digits(text, count)
    guard last.count == 2 || last.count == 4 else { return }
    let isMonthFirst = mark == 0x2f && first <= 12 || second > 12
    month = month ?? (isMonthFirst ? first : second)
    day = day ?? (isMonthFirst ? second : first)
    year = year ?? (last.count == 2 ? DateParts.fullYear(last.value) : last.value)
  }

  /// Reads `+0100`, `+01:00` or `+01` after the sign.
  private mutating func readZone(_ text: Span<UInt8>, _ count: Int, isWest: Bool) -> Int {
    var (value, length) = digits(text, count)
    if length <= 2 {
      value *= 100
      if index + 1 < count, text[index] == 0x3a, text[index + 1].isAsciiDigit {
        index += 1
        value += digits(text, count).value
      }
    }
    length = max(length, 4)
    guard length == 4, value / 100 <= 24, value % 100 < 60 else { return 0 }
    let minutes = value / 100 * 60 + value % 100
    return isWest ? -minutes : minutes
  }

  private mutating func skipComment(_ text: Span<UInt8>, _ count: Int) {
    var depth = 0
    while index < count {
      if text[index] == 0x28 { depth += 1 }
      if text[index] == 0x29 { depth -= 1 }
      index += 1
      if depth == 0 { return }
    }
  }

  private mutating func readWord(_ text: Span<UInt8>, _ count: Int) {
    let start = index
    while index < count, text[index].isAsciiLetter || text[index] >= 0x80 { index += 1 }
    let word = text.extracting(start..<index)
    if month == nil, let found = DateParts.month(word) {
      month = found
    } else if hasTime {
      if word.equalsIgnoringCase("pm") {
        if hour < 12 { hour += 12 }
      } else if word.equalsIgnoringCase("am") {
        if hour == 12 { hour = 0 }
      } else if word.equalsIgnoringCase("dst") {
        // `MET DST`.
        if let zone { self.zone = zone + 60 }
      } else if zone == nil, let found = DateParts.zones.first(where: { word.equalsIgnoringCase($0.name) }) {
        zone = found.minutes
      }
    }
  }

  /// Returns the number of a month from its English name, in full or abbreviated to at least three letters, or from a
  /// three-byte abbreviation in a related language.
  static func month(_ word: Span<UInt8>) -> Int? {
    guard word.count >= 3, word.count <= 10 else { return nil }
    let key = (0..<3).reduce(0) { $0 << 8 | UInt32(word[$1].asciiLowercase) }
    // Distinguishes juin and juillet.
    if key == 0x6a_7569 { return word.count > 3 && word[3].asciiLowercase == 0x6e ? 6 : 7 }
    return months.first { $0.key == key }?.month
  }

  private static let months: [(key: UInt32, month: Int)] = {
    let names = [
      "jan feb mar apr may jun jul aug sep oct nov dec", "ene fev mär avr mai jui jui aoû set okt nov dez",
      "gen fév mrz abr mei giu lug ago set ott nov dic", "jan feb mrt apr mag jun jul aug sep out nov déc",
    ]
    return names.flatMap { row in
      row.split(separator: " ").enumerated().map { place, name in
        (key: name.utf8.prefix(3).reduce(0) { $0 << 8 | UInt32($1) }, month: place + 1)
      }
    }
  }()

  /// The zones of RFC 5322 §4.3, and others in use, in minutes. Unknown zones are treated as UTC.
  private static let zones: [(name: StaticString, minutes: Int)] = [
    ("gmt", 0), ("utc", 0), ("ut", 0), ("z", 0), ("wet", 0), ("est", -300), ("edt", -240), ("cst", -360), ("cdt", -300),
    ("mst", -420), ("mdt", -360), ("pst", -480), ("pdt", -420), ("cet", 60), ("cest", 120), ("met", 60), ("mest", 120),
    ("mez", 60), ("mesz", 120), ("bst", 60), ("west", 60), ("eet", 120), ("eest", 180), ("msk", 180), ("msd", 240),
    ("jst", 540), ("kst", 540), ("hkt", 480), ("sgt", 480), ("akst", -540), ("akdt", -480), ("hst", -600),
    ("aest", 600), ("aedt", 660), ("nzst", 720), ("nzdt", 780),
  ]
}
