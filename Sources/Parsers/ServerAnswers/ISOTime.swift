internal import Bytes

/// A parser of ISO 8601 times in UTC: `1994-11-06T08:49:37.123Z`.
enum ISOTime {
  /// Parses a time. Returns `nil` for other text. Digits of the fraction after the ninth are ignored.
  static func timestamp(_ text: [UInt8]) -> Timestamp? {
    guard text.count >= 20, text.count <= 40, text.last == UInt8(ascii: "Z"), text[4] == UInt8(ascii: "-"),
      text[7] == UInt8(ascii: "-"), text[10] == UInt8(ascii: "T"), text[13] == UInt8(ascii: ":"),
      text[16] == UInt8(ascii: ":"), let year = number(text[0..<4]), let month = number(text[5..<7]),
      let day = number(text[8..<10]), let hour = number(text[11..<13]), let minute = number(text[14..<16]),
      let second = number(text[17..<19]), (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60,
      second <= 60
    else { return nil }
    var nanoseconds = 0
    if text[19] == UInt8(ascii: ".") {
      var digits = Array(text[20..<text.count - 1].prefix(9))
      guard !digits.isEmpty else { return nil }
      digits += repeatElement(UInt8(ascii: "0"), count: 9 - digits.count)
      guard let fraction = number(digits[...]) else { return nil }
      nanoseconds = fraction
    } else if text.count != 20 {
      return nil
    }
    let seconds = days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second
    return Timestamp(seconds: Int64(seconds), nanoseconds: Int32(nanoseconds))
  }

  fileprivate static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    var value = 0
    for digit in digits {
      guard digit >= 0x30, digit <= 0x39 else { return nil }
      value = value * 10 + Int(digit - 0x30)
    }
    return value
  }

  /// Returns the number of days from 1970 to a day of the Gregorian calendar. A year begins in March here, so a leap
  /// day is its last.
  fileprivate static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month > 2 ? year : year - 1
    let leaps = year / 4 - year / 100 + year / 400
    return year * 365 + leaps + (153 * ((month + 9) % 12) + 2) / 5 + day - 1 - 719_468
  }
}

/// A parser of HTTP times (IMF-fixdate of RFC 9110, section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
package enum HTTPTime {
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  /// Parses a time into seconds since 1970. Returns `nil` for text in another format.
  package static func seconds(_ text: [UInt8]) -> Int64? {
    guard text.count == 29, text[26...].elementsEqual("GMT".utf8), let day = ISOTime.number(text[5..<7]),
      let month = months.firstIndex(where: { $0.utf8.elementsEqual(text[8..<11]) }),
      let year = ISOTime.number(text[12..<16]), let hour = ISOTime.number(text[17..<19]),
      let minute = ISOTime.number(text[20..<22]), let second = ISOTime.number(text[23..<25]), (1...31).contains(day)
    else { return nil }
    return Int64(ISOTime.days(year, month + 1, day) * 86400 + hour * 3600 + minute * 60 + second)
  }
}
