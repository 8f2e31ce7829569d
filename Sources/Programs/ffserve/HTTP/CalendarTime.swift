import Bytes
import Glibc

/// A time as a calendar has it, in UTC.
struct CalendarTime {
  let year: Int
  /// 1 to 12.
  let month: Int
  let day: Int
  /// 0 is Sunday.
  let weekday: Int
  let hour: Int
  let minute: Int
  let second: Int

  /// A time outside `range`, in seconds since 1970, becomes the nearest of it.
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

  /// In seconds since 1970; numbers that are none of a calendar count on from those that are.
  static func seconds(year: Int32, month: Int32, day: Int32, hour: Int32, minute: Int32, second: Int32) -> Int64 {
    var parts = unsafe tm()
    unsafe (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1900, month - 1, day)
    unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec) = (hour, minute, second)
    return Int64(unsafe timegm(&parts))
  }
}
