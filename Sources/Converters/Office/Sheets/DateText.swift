/// A serial number of days in the format of a section of a format code.
struct DateText {
  private let section: FormatSection
  private let serial: Double
  private let isSince1904: Bool
  private typealias Token = FormatSection.Token

  init(serial: Double, isSince1904: Bool, _ section: FormatSection) {
    self.serial = serial
    self.isSince1904 = isSince1904
    self.section = section
  }

  private static let months = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
  ]
  private static let days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

  /// The formatted date. `nil` if the number is not a date.
  var text: String? {
    guard serial >= 0, serial < 2_958_466 else { return nil }
    let places = decimals
    let scale = [1.0, 10, 100, 1000][places]
    let ticks = (serial * 86400 * scale).rounded()
    let seconds = Int(ticks / scale)
    let part = Int(ticks - Double(seconds) * scale)
    let (day, inDay) = seconds.quotientAndRemainder(dividingBy: 86400)
    let date = Self.date(day, isSince1904: isSince1904)
    let hasHalves = section.tokens.contains { if case .halves = $0 { true } else { false } }
    var text = ""
    for (index, token) in section.tokens.enumerated() {
      switch token {
      case .literal(let words): text += words
      case .slash: text += "/"
      case .comma: text += ","
      case .point: text += "."
      case .percent: text += "%"
      case .digit: break
      case .halves(let isShort): text += inDay < 43200 ? (isShort ? "A" : "AM") : (isShort ? "P" : "PM")
      case .passed(let letter, let count):
        let all = letter == UInt8(ascii: "h") ? seconds / 3600 : letter == UInt8(ascii: "m") ? seconds / 60 : seconds
        text += Self.padded(all, count)
      case .date(let letter, let count):
        switch letter {
        case UInt8(ascii: "y"): text += count > 2 ? Self.padded(date.year, 4) : Self.padded(date.year % 100, 2)
        case UInt8(ascii: "m"):
          text += isMinute(index) ? Self.padded(inDay / 60 % 60, count) : Self.named(date.month, Self.months, count)
        case UInt8(ascii: "d"):
          text += count > 2 ? String(Self.days[date.weekday].prefix(count > 3 ? 20 : 3)) : Self.padded(date.day, count)
        case UInt8(ascii: "h"):
          let hour = inDay / 3600
          text += Self.padded(hasHalves ? (hour + 11) % 12 + 1 : hour, count)
        default: text += Self.padded(inDay % 60, count)
        }
      case .general, .text, .exponent: break
      }
      // The digits after a second's point.
      if token == .point, places > 0 { text += Self.padded(part, places) }
    }
    return text
  }

  /// The number of digits of seconds that are shown after a point.
  private var decimals: Int {
    guard let point = section.tokens.firstIndex(of: .point) else { return 0 }
    return min(3, section.tokens[(point + 1)...].prefix { if case .digit = $0 { true } else { false } }.count)
  }

  /// Returns whether an m means minutes, which it does after an hour or before a second.
  private func isMinute(_ index: Int) -> Bool {
    func letter(_ tokens: some Sequence<Token>) -> UInt8? {
      for token in tokens {
        switch token {
        case .date(let letter, _), .passed(let letter, _): return letter
        default: continue
        }
      }
      return nil
    }
    return letter(section.tokens[..<index].reversed()) == UInt8(ascii: "h")
      || letter(section.tokens[(index + 1)...]) == UInt8(ascii: "s")
  }

  private static func padded(_ number: Int, _ count: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, min(count, 4) - digits.utf8.count)) + digits
  }

  private static func named(_ number: Int, _ names: [String], _ count: Int) -> String {
    switch count {
    case ...2: padded(number, count)
    case 3: String(names[number - 1].prefix(3))
    case 5: String(names[number - 1].prefix(1))
    default: names[number - 1]
    }
  }

  /// Returns a day by its number: 1 is 1 January 1900, and 60 is the 29 February that the year did not have.
  private static func date(_ serial: Int, isSince1904: Bool) -> (year: Int, month: Int, day: Int, weekday: Int) {
    if !isSince1904, serial == 60 { return (1900, 2, 29, 3) }
    // Days since 0000-03-01, so that leap days are at the ends of years.
    let days = serial + (isSince1904 ? 695_361 : serial < 60 ? 693_900 : 693_899)
    let era = days / 146_097
    let dayOfEra = days % 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * month + 2) / 5 + 1
    let shown = month < 10 ? month + 3 : month - 9
    return (yearOfEra + era * 400 + (shown <= 2 ? 1 : 0), shown, day, (days + 3) % 7)
  }
}
