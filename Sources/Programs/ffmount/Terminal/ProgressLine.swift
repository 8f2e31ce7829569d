import Assembly
import Glibc
import MailViews
import Tree

/// A progress display: a bar that is redrawn on a terminal, or one line at the end elsewhere.
struct ProgressLine {
  private let title: String
  /// The total, in bytes.
  private let size: Int64
  private let begun = ContinuousClock.now
  private var shown: ContinuousClock.Instant?
  private let output: Int32
  private let isTerminal: Bool

  /// The width of the bar, on a wide terminal and on a narrow one.
  private static let widths = (usual: 20, little: 10)
  /// The minimum width reserved for the title. Everything except the share is omitted to preserve it.
  private static let titleWidth = 12
  /// The minimum duration of work with a bar.
  private static let interval = Duration.milliseconds(100)
  /// The longest remaining time shown, in seconds.
  private static let longest: Double = 1_000_000

  /// The noun of the counted units, if they are not bytes, and the participle of the action.
  private let (thing, deed): (String, String)

  /// - Parameter isShown: whether the bar is shown on a terminal.
  init(
    _ title: String, size: Int64, of thing: String = "file", done deed: String = "converted",
    output: Int32 = STDOUT_FILENO, isShown: Bool = true
  ) {
    (self.thing, self.deed) = (thing, deed)
    self.title = Terminal.shown(title)
    self.size = size
    self.output = output
    isTerminal = isShown && Terminal.isOne(output)
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

  /// - Parameter total: the total in bytes, if it is not known from the start.
  mutating func show(bytes: Int64, of total: Int64? = nil, messages: Int? = nil) {
    let now = ContinuousClock.now
    guard isTerminal, now - (shown ?? begun) >= Self.interval else { return }
    shown = now
    let size = total ?? size
    let seconds = (now - begun) / .seconds(1)
    let rate = Double(bytes) / seconds
    let left = rate > 0 ? min(Self.longest, Double(size - bytes) / rate) : 0
    let share = size > 0 ? Double(bytes) / Double(size) : 1
    let amount = "\(Amount.bytes(bytes)) of \(Amount.bytes(size))"
    let (count, speed) = (messages.map { [Amount.of($0, "message")] } ?? [], "\(Amount.bytes(Int64(rate)))/s")
    let time = "\(Amount.time(Int(left))) left"
    draw(share, [[amount] + count + [speed, time], [amount] + count + [time], [amount, time], [time], []])
  }

  /// Shows progress in files, with `size` as their number.
  mutating func show(files: Int) {
    let now = ContinuousClock.now
    guard isTerminal, now - (shown ?? begun) >= Self.interval else { return }
    shown = now
    draw(size > 0 ? Double(files) / Double(size) : 1, [["\(files) of \(Amount.of(Int(size), thing))"], []])
  }

  func finish(files: Int) {
    let seconds = (ContinuousClock.now - begun) / .seconds(1)
    let start = shown == nil ? "" : "\r\u{1b}[K"
    write("\(start)\(title): \(Amount.of(files, thing)) \(deed) in \(Amount.seconds(seconds))\n")
  }

  /// Draws the bar and the first of `choices` that leaves space for the title. A line wider than the terminal would be
  /// drawn on a new line each time.
  private func draw(_ share: Double, _ choices: [[String]]) {
    let columns = Terminal.columns(of: output) - 1
    let wanted = min(Terminal.width(title), Self.titleWidth)
    let widths = [Self.widths.usual, Self.widths.little]
    var line = ""
    search: for words in choices {
      for width in widths {
        line = ([bar(share, width: width)] + words).joined(separator: "  ")
        if Terminal.width(line) + 2 + wanted <= columns { break search }
      }
    }
    let room = columns - Terminal.width(line) - 2
    if room > 0 { line += "  " + Terminal.end(of: title, columns: room) }
    write("\r\u{1b}[K" + Terminal.start(of: line, columns: columns))
  }

  private func bar(_ share: Double, width: Int) -> String {
    let done = max(0, min(1, share))
    let filled = Int(done * Double(width))
    return "[" + String(repeating: "#", count: filled) + String(repeating: ".", count: width - filled)
      + "] \(Int(done * 100)) %"
  }

  func finish(bytes: Int64, messages: Int) {
    let seconds = (ContinuousClock.now - begun) / .seconds(1)
    let start = shown == nil ? "" : "\r\u{1b}[K"
    write("\(start)\(title): \(Amount.of(messages, "message")), \(Amount.bytes(bytes)) in \(Amount.seconds(seconds))\n")
  }

  private func write(_ text: String) { try? Output.write(Array(text.utf8), to: output) }
}
