internal import Glibc

/// Times in the local zone.
enum LocalTime {
  /// Returns the time of `2019-05-03 12:34:56` in seconds since 1970. The time of day may be absent. Returns `nil` for
  /// other text.
  static func seconds(_ text: String) -> Int64? {
    let numbers = text.split { !($0.isASCII && $0.isNumber) }.prefix(6).map { $0.count <= 4 ? Int32($0) : nil }
    guard numbers.count >= 3, !numbers.contains(nil), let year = numbers[0], (1800...9999).contains(year),
      let month = numbers[1], (1...12).contains(month), let day = numbers[2], (1...31).contains(day)
    else { return nil }
    func part(_ index: Int, _ most: Int32) -> Int32 { index < numbers.count ? min(most, numbers[index] ?? 0) : 0 }
    var parts = unsafe tm()
    unsafe parts.tm_year = year - 1900
    unsafe parts.tm_mon = month - 1
    unsafe parts.tm_mday = day
    unsafe (parts.tm_hour, parts.tm_min, parts.tm_sec) = (part(3, 23), part(4, 59), part(5, 60))
    unsafe parts.tm_isdst = -1
    return unsafe Int64(mktime(&parts))
  }
}
