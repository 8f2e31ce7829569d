internal import Glibc

/// Dates as headers have them (RFC 5322, section 3.3).
enum MailDate {
  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// In UTC; nil for what no calendar has.
  static func text(_ seconds: Int64) -> String? {
    var time = time_t(seconds)
    var parts = unsafe tm()
    guard unsafe gmtime_r(&time, &parts) != nil, unsafe (0...8099).contains(parts.tm_year) else { return nil }
    func two(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
    let day =
      unsafe "\(days[Int(parts.tm_wday)]), \(parts.tm_mday) \(months[Int(parts.tm_mon)]) \(parts.tm_year + 1900)"
    return unsafe "\(day) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) +0000"
  }
}
