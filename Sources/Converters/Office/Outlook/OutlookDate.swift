internal import Glibc

/// The date formats of mail headers (RFC 5322, section 3.3) and calendars.
enum OutlookDate {
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// Returns a date in UTC. Returns `nil` if it is not in the years 1900 to 9999.
  static func text(_ seconds: Int64) -> String? {
    var time = time_t(seconds)
    var parts = unsafe tm()
    guard unsafe gmtime_r(&time, &parts) != nil, unsafe (0...8099).contains(parts.tm_year) else { return nil }
    func two(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
    let day =
      unsafe "\(days[Int(parts.tm_wday)]), \(parts.tm_mday) \(months[Int(parts.tm_mon)]) \(parts.tm_year + 1900)"
    return unsafe "\(day) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) +0000"
  }

  /// Returns a date in UTC in the format of calendars: `20240503T100000Z`. Returns `nil` if it is not in the years 1900
  /// to 9999.
  static func basic(_ seconds: Int64) -> String? {
    var time = time_t(seconds)
    var parts = unsafe tm()
    guard unsafe gmtime_r(&time, &parts) != nil, unsafe (0...8099).contains(parts.tm_year) else { return nil }
    func digits(_ number: Int32, _ count: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
    let date = unsafe digits(parts.tm_year + 1900, 4) + digits(parts.tm_mon + 1, 2) + digits(parts.tm_mday, 2)
    return unsafe "\(date)T\(digits(parts.tm_hour, 2))\(digits(parts.tm_min, 2))\(digits(parts.tm_sec, 2))Z"
  }
}
