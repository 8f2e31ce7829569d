import Bytes
import Glibc

/// A calendar date and time, in UTC.
struct CalendarTime {
  let year: Int
  /// The month, 1 to 12.
  let month: Int
  let day: Int
  /// The day of the week. 0 is Sunday.
  let weekday: Int
  let hour: Int
  let minute: Int
  let second: Int

  /// Converts a time, clamped to `range` in seconds since 1970.
  init(_ time: Timestamp, within range: ClosedRange<Int64> = Self.fourDigits) {
    var seconds = time_t(min(max(time.seconds, range.lowerBound), range.upperBound))
    var parts = unsafe tm()
    _ = unsafe gmtime_r(&seconds, &parts)
    year = unsafe Int(parts.tm_year) + 1900
    month = unsafe Int(parts.tm_mon) + 1
    day = unsafe Int(parts.tm_mday)
    weekday = unsafe Int(parts.tm_wday)
    hour = unsafe Int(parts.tm_hour)
    minute = unsafe Int(parts.tm_min)
    second = unsafe Int(parts.tm_sec)
  }

  /// The years 1 to 9999.
  static let fourDigits: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

  /// Returns the time in seconds since 1970. Numbers outside the calendar's ranges are carried over.
  static func seconds(year: Int32, month: Int32, day: Int32, hour: Int32, minute: Int32, second: Int32) -> Int64 {
    var parts = unsafe tm()
    unsafe (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1900, month - 1, day)
    unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec) = (hour, minute, second)
    return Int64(unsafe timegm(&parts))
  }
}
