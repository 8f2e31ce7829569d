import Glibc
import MailViews
import Tree

/// Shows progress: a bar that is redrawn on a terminal, one line at the end elsewhere.
struct ProgressLine {
  private let title: String
  /// The total, in bytes.
  private let size: Int64
  private let begun = ContinuousClock.now
  private var shown: ContinuousClock.Instant?
  private let output: Int32
  private let isTerminal: Bool

  private static let width = 20
  /// Work that takes less shows no bar.
  private static let interval = Duration.milliseconds(100)
  /// The longest remaining time shown, in seconds.
  private static let longest: Double = 1_000_000

  /// `isShown` enables the bar on a terminal.
  init(_ title: String, size: Int64, output: Int32 = STDOUT_FILENO, isShown: Bool = true) {
    self.title = title
    self.size = size
    self.output = output
    isTerminal = isShown && isatty(output) == 1
  }

  /// Shows the progress of the work until it ends.
  mutating func follow(_ work: some BackgroundWork) {
    var pause: UInt32 = 500
    while true {
      let reach = work.reach
      if reach.isDone { return }
      show(bytes: reach.bytes, messages: reach.messages)
      _ = usleep(pause)
      pause = min(pause * 2, 100_000)
    }
  }

  /// Clears the bar.
  func clear() { if shown != nil { write("\r\u{1b}[K") } }

  mutating func show(bytes: Int64, messages: Int) {
    let now = ContinuousClock.now
    guard isTerminal, now - (shown ?? begun) >= Self.interval else { return }
    shown = now
    let seconds = (now - begun) / .seconds(1)
    let rate = Double(bytes) / seconds
    let left = rate > 0 ? min(Self.longest, Double(size - bytes) / rate) : 0
    write(
      "\r\u{1b}[K\(bar(Double(bytes), of: Double(size)))  \(Amount.bytes(bytes)) of \(Amount.bytes(size))  "
        + "\(messages) messages  \(Amount.bytes(Int64(rate)))/s  \(Amount.time(Int(left))) left  \(title)")
  }

  /// Shows progress in files, with `size` as their number.
  mutating func show(files: Int) {
    let now = ContinuousClock.now
    guard isTerminal, now - (shown ?? begun) >= Self.interval else { return }
    shown = now
    write("\r\u{1b}[K\(bar(Double(files), of: Double(size)))  \(files) of \(size) files  \(title)")
  }

  func finish(files: Int) {
    let seconds = (ContinuousClock.now - begun) / .seconds(1)
    let start = shown == nil ? "" : "\r\u{1b}[K"
    write("\(start)\(title): \(files) files converted in \(Amount.seconds(seconds))\n")
  }

  private func bar(_ part: Double, of whole: Double) -> String {
    let done = whole > 0 ? min(1, part / whole) : 1
    let filled = Int(done * Double(Self.width))
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
    return "[\(bar)] \(Int(done * 100)) %"
  }

  func finish(bytes: Int64, messages: Int) {
    let seconds = (ContinuousClock.now - begun) / .seconds(1)
    let start = shown == nil ? "" : "\r\u{1b}[K"
    write("\(start)\(title): \(messages) messages, \(Amount.bytes(bytes)) in \(Amount.seconds(seconds))\n")
  }

  private func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(output, $0.baseAddress, $0.count) }
  }
}

/// Formats amounts for people.
enum Amount {
  static func bytes(_ count: Int64) -> String {
    var value = Double(count)
    for unit in ["B", "kB", "MB", "GB"] {
      if value < 1000 { return unit == "B" ? "\(count) B" : "\(decimal(value)) \(unit)" }
      value /= 1000
    }
    return "\(decimal(value)) TB"
  }

  static func seconds(_ seconds: Double) -> String { "\(decimal(seconds)) s" }

  /// The local date of a time in seconds since 1970.
  static func day(_ time: Int64) -> String {
    var time = time_t(time)
    var parts = unsafe tm()
    _ = unsafe localtime_r(&time, &parts)
    var text = [CChar](repeating: 0, count: 16)
    _ = unsafe strftime(&text, text.count, "%Y-%m-%d", &parts)
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The time as `2024-05-03 12:00` in a time zone, given in minutes east of Greenwich.
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
