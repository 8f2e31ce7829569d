internal import Bytes

/// A point in time or a duration, as written in names: `90s`, `1m30s`, `1.5s`, `1h2m3s500ms`, or `1m30s74f` with the
/// frames of a CD.
public struct MediaTime: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The time in units of 1/3000 second, of which milliseconds and frames of 1/75 second are multiples.
  private let ticks: Int64

  private static let ticksPerSecond: Int64 = 3000
  public static let framesPerSecond: Int64 = 75

  public static let zero = MediaTime(milliseconds: 0)

  /// The time in whole milliseconds.
  public var milliseconds: Int64 { ticks / 3 }
  public var seconds: Double { Double(ticks) / Double(Self.ticksPerSecond) }

  public init(milliseconds: Int64) { ticks = Self.multiplied(milliseconds, 3) }

  /// Creates a time from frames of a CD, of which there are 75 per second.
  public init(frames: Int64) { ticks = Self.multiplied(frames, Self.ticksPerSecond / Self.framesPerSecond) }

  private static func multiplied(_ value: Int64, _ factor: Int64) -> Int64 {
    let (product, overflow) = value.multipliedReportingOverflow(by: factor)
    return overflow ? .max : product
  }

  /// The units and their lengths in ticks. The last two are alternatives: a remainder that is not a multiple of the
  /// first is one of the second.
  private static let units: [(name: Substring, length: Int64)] = [
    ("h", 10_800_000), ("m", 180_000), ("s", 3000), ("ms", 3), ("f", 40),
  ]

  /// Parses a time. Each unit occurs at most once, larger units first. The last number can have a fraction. Returns
  /// `nil` for other text.
  public init?(_ text: Substring) {
    var rest = text
    var sum: Int64 = 0
    var next = 0
    if rest.isEmpty { return nil }
    while !rest.isEmpty {
      let digits = rest.prefix { $0.isASCII && $0.isNumber }
      rest = rest.dropFirst(digits.count)
      var fraction: Substring?
      if let mark = rest.first, mark == "." || mark == "," {
        let more = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
        guard (1...3).contains(more.count) else { return nil }
        rest = rest.dropFirst(1 + more.count)
        fraction = more
      }
      let name = rest.prefix { $0.isLetter }
      guard (1...6).contains(digits.count), digits == "0" || digits.first != "0", let number = Int64(digits),
        let place = Self.units[next...].firstIndex(where: { $0.name == name })
      else { return nil }
      rest = rest.dropFirst(name.count)
      sum += number * Self.units[place].length
      next = name == "ms" ? Self.units.count : place + 1
      guard let fraction, let parts = Int64(fraction) else { continue }
      let product = parts * Self.units[place].length
      let divisor = fraction.reduce(1) { power, _ in power * 10 }
      guard rest.isEmpty, product % Int64(divisor) == 0 else { return nil }
      sum += product / Int64(divisor)
    }
    ticks = sum
  }

  public static func < (one: MediaTime, other: MediaTime) -> Bool { one.ticks < other.ticks }

  /// The canonical form of the time, such as `0s` or `1m20s`.
  public var description: String {
    var rest = ticks
    var text = ""
    for (name, length) in Self.units where rest >= length && (length != 3 || rest % 3 == 0) {
      text += "\(rest / length)\(name)"
      rest %= length
    }
    return text.isEmpty ? "0s" : text
  }

  /// Returns the number of samples up to this time at `rate` samples per second, rounded.
  public func count(at rate: Int) -> Int64 {
    let (product, overflow) = ticks.multipliedReportingOverflow(by: Int64(rate))
    return overflow ? .max : (product + Self.ticksPerSecond / 2) / Self.ticksPerSecond
  }
}

/// A part of a recording, as written in names: `10s-1m20s`, or `10s-` up to the end.
public struct MediaSpan: Hashable, Sendable, CustomStringConvertible {
  public let start: MediaTime
  /// The end of the part. `nil` for the recording's end.
  public let end: MediaTime?

  public init?(_ text: Substring) {
    let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard ends.count == 2, let start = MediaTime(ends[0]) else { return nil }
    if ends[1].isEmpty {
      end = nil
    } else {
      guard let last = MediaTime(ends[1]), last > start else { return nil }
      end = last
    }
    self.start = start
  }

  /// Returns `nil` if the end is not after the start.
  public init?(from start: MediaTime, to end: MediaTime?) {
    if let end, end <= start { return nil }
    (self.start, self.end) = (start, end)
  }

  public var description: String { "\(start)-\(end?.description ?? "")" }
}

/// A playback speed in hundredths, as written in names: `2x`, `1.5x`, `0,75x`.
public struct PlaySpeed: Hashable, Sendable, CustomStringConvertible {
  public let hundredths: Int

  public static let possible = 25...400

  /// Returns `nil` for other text, for speeds outside `possible`, and for the normal speed.
  public init?(_ text: Substring) {
    guard text.hasSuffix("x") else { return nil }
    let parts = text.dropLast().split(omittingEmptySubsequences: false) { $0 == "," || $0 == "." }
    guard (1...2).contains(parts.count), parts[0].count == 1, parts.allSatisfy({ $0.utf8.allSatisfy(Self.isDigit) }),
      let whole = Int(parts[0])
    else { return nil }
    var hundredths = whole * 100
    if parts.count == 2 {
      guard (1...2).contains(parts[1].count), parts[1].last != "0", let digits = Int(parts[1]) else { return nil }
      hundredths += parts[1].count == 1 ? digits * 10 : digits
    }
    guard Self.possible.contains(hundredths), hundredths != 100 else { return nil }
    self.hundredths = hundredths
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  public var description: String {
    let rest = hundredths % 100
    let digits = rest % 10 == 0 ? "\(rest / 10)" : (rest < 10 ? "0\(rest)" : "\(rest)")
    return rest == 0 ? "\(hundredths / 100)x" : "\(hundredths / 100),\(digits)x"
  }
}
