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
    add(time.day, 2, to: &text)
    text += Array(" \(months[time.month - 1]) ".utf8)
    add(time.year, 4, to: &text)
    text.append(UInt8(ascii: " "))
    addClock(time, to: &text)
    return String(decoding: text + Array(" GMT".utf8), as: UTF8.self)
  }

  /// ISO 8601 in UTC, with milliseconds: `1994-11-06T08:49:37.000Z`.
  static func iso(_ stamp: Timestamp) -> String {
    let time = CalendarTime(stamp)
    var text: [UInt8] = []
    text.reserveCapacity(24)
    add(time.year, 4, to: &text)
    text.append(UInt8(ascii: "-"))
    add(time.month, 2, to: &text)
    text.append(UInt8(ascii: "-"))
    add(time.day, 2, to: &text)
    text.append(UInt8(ascii: "T"))
    addClock(time, to: &text)
    text.append(UInt8(ascii: "."))
    add(Int(stamp.nanoseconds / 1_000_000), 3, to: &text)
    text.append(UInt8(ascii: "Z"))
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

  private static func addClock(_ time: CalendarTime, to text: inout [UInt8]) {
    add(time.hour, 2, to: &text)
    text.append(UInt8(ascii: ":"))
    add(time.minute, 2, to: &text)
    text.append(UInt8(ascii: ":"))
    add(time.second, 2, to: &text)
  }

  private static func add(_ number: Int, _ digits: Int, to text: inout [UInt8]) {
    var scale = digits == 4 ? 1000 : digits == 3 ? 100 : 10
    while scale > 0 {
      text.append(UInt8(ascii: "0") + UInt8(number / scale % 10))
      scale /= 10
    }
  }
}
