/// A date of a mail (RFC 5322 §3.3 and §4.3, asctime's format, ISO 8601), in whole seconds.
///
/// Tolerant: parts in any order that is unambiguous, weekdays missing or in other languages, years of two or three
/// digits, named zones, comments, seconds or the whole time missing; in an encoded word, or as seconds since the Unix
/// epoch.
public struct MailDate: Sendable, Equatable {
  /// The seconds since the Unix epoch, in UTC.
  public var seconds: Int64
  /// The zone as written, in minutes east of Greenwich. 0 if it is missing or invalid.
  public var zoneMinutes: Int

  /// Parses a date. Returns `nil` if day, month and year cannot be determined. O(n).
  public init?(_ text: ArraySlice<UInt8>) { self.init(text.span) }

  init?(_ text: Span<UInt8>) {
    if text.matches("=?", at: text.trimmed.lowerBound) {
      // Some programs encode dates unnecessarily.
      self.init(plain: Array(EncodedWords.decode(text).utf8).span)
    } else {
      self.init(plain: text)
    }
  }

  private init?(plain text: Span<UInt8>) {
    if (9...10).contains(text.count), let seconds = MessageHead.number(text) {
      self.seconds = Int64(seconds)
      zoneMinutes = 0
      return
    }
    var parts = DateParts()
    guard parts.read(text), let day = parts.day, let month = parts.month, let year = parts.year else { return nil }
    guard (1...31).contains(day), (1...12).contains(month), parts.hour <= 24, parts.minute <= 59, parts.second <= 61
    else { return nil }
    let local = MailDate.days(year: year, month: month, day: day) * 86400 + parts.hour * 3600 + parts.minute * 60
    zoneMinutes = parts.zone ?? 0
    seconds = Int64(local + parts.second - 60 * zoneMinutes)
  }

  /// The days from 1970-01-01 to the day as written. `nil` far outside of the years 0 to 9999.
  public var localDay: Int32? {
    let (local, isOver) = seconds.addingReportingOverflow(Int64(zoneMinutes) * 60)
    // Seconds of approximately the four-digit years.
    guard !isOver, (-70_000_000_000...260_000_000_000).contains(local) else { return nil }
    return Int32((Double(local) / 86400).rounded(.down))
  }

  /// Creates a date from its values.
  init(seconds: Int64, zoneMinutes: Int) { (self.seconds, self.zoneMinutes) = (seconds, zoneMinutes) }

  /// Returns the days from 1970-01-01 to a day. Returns `nil` if it does not exist or the year is not within 0 to 9999.
  public static func daysSince1970(year: Int, month: Int, day: Int) -> Int? {
    guard (0...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
    let days = days(year: year, month: month, day: day)
    return civil(days) == (year, month, day) ? days : nil
  }

  /// Returns the days from 1970-01-01 to a day of the Gregorian calendar, in the years 0 to 9999.
  static func days(year: Int, month: Int, day: Int) -> Int {
    // In a year that starts in March the leap day is the last.
    let year = month <= 2 ? year - 1 : year
    let era = (year >= 0 ? year : year - 399) / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// Returns the Gregorian date of a number of days since 1970-01-01, within a million years.
  static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}
