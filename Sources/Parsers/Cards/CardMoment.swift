/// A date, or a date and a time, as in calendars: `20240503`, `20240503T100000Z` (RFC 5545, sections 3.3.4 and 3.3.5).
struct CardMoment: Equatable {
  let year: Int
  let month: Int
  let day: Int
  /// The hour and minute. Nil for a whole day.
  let time: (hour: Int, minute: Int)?
  /// The zone: `UTC` or a name. Nil if unspecified.
  let zone: String?

  static func == (one: CardMoment, other: CardMoment) -> Bool { one.text == other.text }

  init?(_ text: String, zone: String? = nil) {
    let signs = Array(text.utf8)
    let digits = signs.filter { $0 >= 0x30 && $0 <= 0x39 }
    func number(_ from: Int, _ count: Int) -> Int {
      digits[from..<from + count].reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }
    guard digits.count >= 8, digits.count <= 14, signs.count <= 25 else { return nil }
    (year, month, day) = (number(0, 4), number(4, 2), number(6, 2))
    guard (1...12).contains(month), (1...31).contains(day) else { return nil }
    if digits.count >= 12, number(8, 2) < 25, number(10, 2) < 60 {
      time = (number(8, 2), number(10, 2))
      self.zone = signs.last == UInt8(ascii: "Z") ? "UTC" : zone
    } else {
      (time, self.zone) = (nil, nil)
    }
  }

  /// Parses the start or end of an entry.
  init?(_ line: ContentLine) { self.init(line.text, zone: line.values(of: "TZID").first) }

  private static func digits(_ number: Int, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
  }

  var date: String { "\(Self.digits(year, 4))-\(Self.digits(month, 2))-\(Self.digits(day, 2))" }
  var clock: String? { time.map { "\(Self.digits($0.hour, 2)):\(Self.digits($0.minute, 2))" } }
  private var place: String { zone.map { " (\($0))" } ?? "" }
  var text: String { clock.map { "\(date) \($0)\(place)" } ?? date }

  /// Returns the range from this moment to an end. The end of whole days is the day after the last.
  func text(to end: CardMoment?) -> String {
    guard let end, end != self else { return text }
    if time == nil, end.time == nil {
      let last = end.dayBefore
      return last == date ? date : "\(date) to \(last)"
    }
    guard let clock, let until = end.clock, end.zone == zone else { return "\(text) to \(end.text)" }
    return end.date == date
      ? "\(date) \(clock) to \(until)\(place)" : "\(date) \(clock) to \(end.date) \(until)\(place)"
  }

  private var dayBefore: String {
    if day > 1 { return CardMoment.date(year, month, day - 1) }
    if month == 1 { return CardMoment.date(year - 1, 12, 31) }
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return CardMoment.date(year, month - 1, days[month - 2])
  }

  private static func date(_ year: Int, _ month: Int, _ day: Int) -> String {
    "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))"
  }
}

/// A rule by which an event repeats (RFC 5545, section 3.3.10).
enum RepeatRule {
  private static let days = [
    "MO": "Monday", "TU": "Tuesday", "WE": "Wednesday", "TH": "Thursday", "FR": "Friday", "SA": "Saturday",
    "SU": "Sunday",
  ]
  private static let units = ["DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year", "HOURLY": "hour"]

  /// Describes a rule in words. Returns the rule unchanged if words cannot express all of it.
  static func words(_ rule: String) -> String {
    var parts: [String: String] = [:]
    for part in rule.uppercased().split(separator: ";") {
      let halves = part.split(separator: "=", maxSplits: 1)
      guard halves.count == 2 else { return rule }
      parts[String(halves[0])] = String(halves[1])
    }
    guard let frequency = parts.removeValue(forKey: "FREQ"), let unit = units[frequency] else { return rule }
    let interval = parts.removeValue(forKey: "INTERVAL") ?? "1"
    var words = interval == "1" ? "every \(unit)" : "every \(interval) \(unit)s"
    if let list = parts.removeValue(forKey: "BYDAY") {
      let names = list.split(separator: ",").map { days[String($0)] }
      guard unit == "week", !names.contains(nil) else { return rule }
      words += " on " + names.compactMap(\.self).joined(separator: ", ")
    }
    if let count = parts.removeValue(forKey: "COUNT") { words += ", \(count) times" }
    if let until = parts.removeValue(forKey: "UNTIL") {
      guard let moment = CardMoment(until) else { return rule }
      words += " until \(moment.text)"
    }
    parts["WKST"] = nil
    return parts.isEmpty ? words : rule
  }
}
