import Glibc

/// Formats amounts for users.
enum Amount {
  static func bytes(_ count: Int64) -> String {
    var value = Double(count)
    for unit in ["B", "kB", "MB", "GB"] {
      if value < 1000 { return unit == "B" ? "\(count) B" : "\(decimal(value)) \(unit)" }
      value /= 1000
    }
    return "\(decimal(value)) TB"
  }

  /// Returns `1 file`, or `3 files`. The plural of the noun has an S.
  static func of(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

  static func seconds(_ seconds: Double) -> String { "\(decimal(seconds)) s" }

  /// Returns the local date of a time in seconds since 1970.
  static func day(_ time: Int64) -> String {
    var time = time_t(time)
    var parts = unsafe tm()
    _ = unsafe localtime_r(&time, &parts)
    var text = [CChar](repeating: 0, count: 16)
    _ = unsafe strftime(&text, text.count, "%Y-%m-%d", &parts)
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Returns the time as `2024-05-03 12:00` in a time zone, given in minutes east of Greenwich.
  static func moment(_ time: Int64, zone: Int) -> String {
    let (local, isOver) = time.addingReportingOverflow(Int64(zone) * 60)
    var seconds = time_t(isOver ? time : local)
    var parts = unsafe tm()
    guard unsafe gmtime_r(&seconds, &parts) != nil else { return "undated" }
    var text = [CChar](repeating: 0, count: 32)
    _ = unsafe strftime(&text, text.count, "%Y-%m-%d %H:%M", &parts)
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  static func time(_ seconds: Int) -> String {
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(seconds / 3600):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
  }

  /// Formats two or three significant digits.
  private static func decimal(_ value: Double) -> String {
    if value >= 100 { return "\(Int(value.rounded()))" }
    let scale: Double = value >= 10 ? 10 : 100
    let whole = Int((value * scale).rounded())
    let (integer, fraction) = whole.quotientAndRemainder(dividingBy: Int(scale))
    let digits = "\(fraction)"
    return "\(integer)." + String(repeating: "0", count: (scale == 10 ? 1 : 2) - digits.count) + digits
  }
}
