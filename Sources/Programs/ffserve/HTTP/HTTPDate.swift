import Bytes
import Glibc

/// The date formats of HTTP and the API.
enum HTTPDate {
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  static var now: Timestamp { Timestamp(seconds: Int64(time(nil))) }

  /// Returns an IMF-fixdate (RFC 9110, section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
  static func text(_ time: Timestamp) -> String {
    let time = CalendarTime(time)
    var text = Array("\(days[time.weekday]), ".utf8)
    text.append(time.day, digits: 2)
    text += Array(" \(months[time.month - 1]) ".utf8)
    text.append(time.year, digits: 4)
    text.append(UInt8(ascii: " "))
    text.append(time.hour, digits: 2)
    text.append(UInt8(ascii: ":"))
    text.append(time.minute, digits: 2)
    text.append(UInt8(ascii: ":"))
    text.append(time.second, digits: 2)
    return String(decoding: text + Array(" GMT".utf8), as: UTF8.self)
  }

  /// Returns the time as ISO 8601 in UTC, with milliseconds: `1994-11-06T08:49:37.000Z`.
  static func iso(_ stamp: Timestamp) -> String {
    var times = ISOTimes()
    times.set(stamp)
    return String(decoding: times.text, as: UTF8.self)
  }

  /// Returns a time in seconds since 1970, with up to nine digits of a fraction. Returns `nil` for any other text.
  static func decimal(_ text: some StringProtocol) -> Timestamp? {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let seconds = Int64(parts[0]) else { return nil }
    let fraction = parts.count > 1 ? parts[1].prefix(9) : ""
    guard fraction.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
    let digits = fraction + String(repeating: "0", count: 9 - fraction.utf8.count)
    return Timestamp(seconds: seconds, nanoseconds: Int32(digits) ?? 0)
  }

  /// Returns the end of a day such as `2027-01-31`, or a time such as `2027-01-31T12:00:00Z`, in seconds. Returns `nil` for
  /// any other text.
  static func end(_ text: Substring) -> Int64? {
    let parts = text.split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
    guard let day = numbers(parts[0], 4, "-"), (1970...9999).contains(day[0]), (1...12).contains(day[1]),
      (1...31).contains(day[2])
    else { return nil }
    var time: [Int32] = [24, 0, 0]
    if parts.count > 1 {
      guard parts[1].last == "Z", let given = numbers(parts[1].dropLast(), 2, ":"), given[0] < 24,
        given.allSatisfy({ $0 < 60 })
      else {
        return nil
      }
      time = given
    }
    let start = CalendarTime.seconds(year: day[0], month: day[1], day: day[2], hour: 0, minute: 0, second: 0)
    // No month has more days than the calendar.
    guard CalendarTime(Timestamp(seconds: start)).day == Int(day[2]) else { return nil }
    return CalendarTime.seconds(
      year: day[0], month: day[1], day: day[2], hour: time[0], minute: time[1], second: time[2])
  }

  /// Returns three numbers with `digits`, two and two digits.
  private static func numbers(_ text: Substring, _ digits: Int, _ separator: Character) -> [Int32]? {
    let parts = text.split(separator: separator, omittingEmptySubsequences: false)
    guard parts.map(\.utf8.count) == [digits, 2, 2] else { return nil }
    let numbers = parts.compactMap { $0.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } ? Int32($0) : nil }
    return numbers.count == 3 ? numbers : nil
  }

  /// Returns the time of an IMF-fixdate, in seconds. Returns `nil` for any other text.
  static func seconds(_ text: String) -> Int64? {
    let words = text.split(separator: " ")
    guard words.count == 6, words[5] == "GMT", let month = months.firstIndex(of: String(words[2])),
      let day = Int32(words[1]), let year = Int32(words[3]), (1...31).contains(day), (1970...9999).contains(year)
    else { return nil }
    let time = words[4].split(separator: ":").compactMap { Int32($0) }
    guard time.count == 3, time.allSatisfy({ (0...60).contains($0) }) else { return nil }
    return CalendarTime.seconds(
      year: year, month: Int32(month) + 1, day: day, hour: time[0], minute: time[1], second: time[2])
  }
}

/// A formatter of times as ISO 8601 in UTC, with milliseconds. It is fast for series of times, most of which are on the
/// same day as the previous one.
struct ISOTimes {
  private(set) var text = Array("0001-01-01T00:00:00.000Z".utf8)
  /// The number of days since the first of the years.
  private var day: Int64 = 0
  private var second: Int64 = 0

  mutating func set(_ stamp: Timestamp) {
    let years = CalendarTime.fourDigits
    // The first of these years starts at the beginning of a day.
    let seconds = min(max(stamp.seconds, years.lowerBound), years.upperBound) - years.lowerBound
    if seconds / 86_400 != day {
      let time = CalendarTime(stamp)
      text.set(time.year, at: 0, digits: 4)
      text.set(time.month, at: 5, digits: 2)
      text.set(time.day, at: 8, digits: 2)
      day = seconds / 86_400
    }
    if seconds != second {
      let second = Int(seconds % 86_400)
      text.set(second / 3600, at: 11, digits: 2)
      text.set(second / 60 % 60, at: 14, digits: 2)
      text.set(second % 60, at: 17, digits: 2)
      self.second = seconds
    }
    text.set(Int(stamp.nanoseconds / 1_000_000), at: 20, digits: 3)
  }
}

extension [UInt8] {
  /// Appends the last `digits` decimal digits of a number that is not negative.
  fileprivate mutating func append(_ number: Int, digits: Int) {
    self += repeatElement(0, count: digits)
    set(number, at: count - digits, digits: digits)
  }

  /// Writes the last `digits` decimal digits of a number that is not negative.
  fileprivate mutating func set(_ number: Int, at place: Int, digits: Int) {
    var rest = number
    for index in (place..<place + digits).reversed() {
      self[index] = UInt8(ascii: "0") + UInt8(rest % 10)
      rest /= 10
    }
  }
}
