import Bytes
import Glibc

/// Dates as HTTP and the API write them.
enum HTTPDate {
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  static var now: Timestamp { Timestamp(seconds: Int64(time(nil))) }

  /// IMF-fixdate (RFC 9110, section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
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

  /// ISO 8601 in UTC, with milliseconds: `1994-11-06T08:49:37.000Z`.
  static func iso(_ stamp: Timestamp) -> String {
    var text: [UInt8] = []
    var times = ISOTimes()
    times.append(stamp, to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// The time that an IMF-fixdate says, in seconds; nil for any other text.
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

/// Writes times as ISO 8601 has them, in UTC with milliseconds: `1994-11-06T08:49:37.000Z`. Of many, most have their day
/// in common with the one before.
struct ISOTimes {
  private var day = Int64.min
  /// Of that day, with the T.
  private var date: [UInt8] = []

  mutating func append(_ stamp: Timestamp, to text: inout [UInt8]) {
    let years = CalendarTime.fourDigits
    let seconds = min(max(stamp.seconds, years.lowerBound), years.upperBound)
    let day = (seconds - years.lowerBound) / 86_400
    if day != self.day {
      let time = CalendarTime(stamp)
      date = []
      date.append(time.year, digits: 4)
      date.append(UInt8(ascii: "-"))
      date.append(time.month, digits: 2)
      date.append(UInt8(ascii: "-"))
      date.append(time.day, digits: 2)
      date.append(UInt8(ascii: "T"))
      self.day = day
    }
    text += date
    // The first of those years begins with a day.
    let second = Int((seconds - years.lowerBound) % 86_400)
    text.append(second / 3600, digits: 2)
    text.append(UInt8(ascii: ":"))
    text.append(second / 60 % 60, digits: 2)
    text.append(UInt8(ascii: ":"))
    text.append(second % 60, digits: 2)
    text.append(UInt8(ascii: "."))
    text.append(Int(stamp.nanoseconds / 1_000_000), digits: 3)
    text.append(UInt8(ascii: "Z"))
  }
}

extension [UInt8] {
  /// Appends the last `digits` decimal digits of a number that is not negative, four at most.
  fileprivate mutating func append(_ number: Int, digits: Int) {
    var scale = digits == 4 ? 1000 : digits == 3 ? 100 : 10
    while scale > 0 {
      append(UInt8(ascii: "0") + UInt8(number / scale % 10))
      scale /= 10
    }
  }
}
