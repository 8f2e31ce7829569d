internal import Bytes
internal import Catalogue

/// The passages of a film's subtitles, each of some seconds. Reads SubRip, WebVTT and Advanced SubStation Alpha.
struct SubtitlePassages {
  struct Passage {
    /// The times of the first and last line, in milliseconds.
    var start: Int64
    var end: Int64
    var text: [UInt8]
  }

  private(set) var passages: [Passage] = []

  /// The time after which a passage ends with the next line, in milliseconds.
  private static let length: Int64 = 10_000
  /// The maximum number of passages of a film.
  private static let most = 20_000
  /// The maximum time, in milliseconds.
  private static let latest: Int64 = 360_000_000

  /// Reads a text in UTF-8.
  init(_ text: [UInt8]) {
    var isOpen = false
    for line in text.split(omittingEmptySubsequences: false, whereSeparator: { $0 == 0x0a || $0 == 0x0d }) {
      if line.starts(with: Array("Dialogue:".utf8)) {
        // Layer, start, end, style, name, three margins and an effect precede the text.
        let fields = line.split(separator: UInt8(ascii: ","), maxSplits: 9, omittingEmptySubsequences: false)
        guard fields.count == 10, let start = Self.time(fields[1]), let end = Self.time(fields[2]) else { continue }
        begin(start, end)
        add(Self.plain(fields[9]))
      } else if let arrow = line.firstOccurrence(of: Array(" --> ".utf8)) {
        let last = line[arrow.upperBound...].drop { $0 == 0x20 }.prefix { $0 != 0x20 }
        guard let start = Self.time(line[..<arrow.lowerBound]), let end = Self.time(last) else { continue }
        begin(start, end)
        isOpen = true
      } else if line.isEmpty {
        isOpen = false
      } else if isOpen {
        add(Self.plain(line))
      }
    }
  }

  private mutating func begin(_ start: Int64, _ end: Int64) {
    let end = max(end, start + 1)
    if let last = passages.last, start >= last.start, start - last.start < Self.length {
      passages[passages.count - 1].end = max(last.end, end)
    } else if passages.count < Self.most {
      passages.append(Passage(start: start, end: end, text: []))
    }
  }

  private mutating func add(_ line: [UInt8]) {
    guard !passages.isEmpty, !line.isEmpty else { return }
    passages[passages.count - 1].text += line + [0x0a]
  }

  /// Returns a line without tags such as `<i>` and `{\an8}`, and without form feeds.
  private static func plain(_ line: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var rest = line
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "<"), UInt8(ascii: "{"):
        let close = UInt8(ascii: byte == UInt8(ascii: "<") ? ">" : "}")
        guard let end = rest.firstIndex(of: close) else {
          result.append(byte)
          continue
        }
        rest = rest[(end + 1)...]
      case UInt8(ascii: "\\"):
        guard let letter = rest.first, [UInt8(ascii: "N"), UInt8(ascii: "n"), UInt8(ascii: "h")].contains(letter) else {
          result.append(byte)
          continue
        }
        rest.removeFirst()
        result.append(0x20)
      case 0x0c: result.append(0x20)
      default: result.append(byte)
      }
    }
    return result
  }

  /// Parses `01:02:03,456`, `02:03.456` or `1:02:03.45`. Returns milliseconds, or `nil` for other text.
  private static func time(_ text: ArraySlice<UInt8>) -> Int64? {
    let words = String(decoding: text, as: UTF8.self).split(whereSeparator: { $0 == " " || $0 == "\t" })
    guard words.count == 1 else { return nil }
    let parts = words[0].split(omittingEmptySubsequences: false) { ":.,".contains($0) }
    guard (3...4).contains(parts.count), let fraction = parts.last, (1...3).contains(fraction.count),
      parts.allSatisfy({ (1...4).contains($0.count) && $0.allSatisfy { $0.isASCII && $0.isNumber } })
    else { return nil }
    let numbers = parts.compactMap { Int64($0) }
    let scale: Int64 = fraction.count == 1 ? 100 : fraction.count == 2 ? 10 : 1
    let seconds = numbers.dropLast().reduce(0) { $0 * 60 + $1 }
    let time = seconds * 1000 + numbers[numbers.count - 1] * scale
    return time < latest ? time : nil
  }
}

extension SubtitlePassages.Passage {
  /// The name of the view of a film with this part of it, in whole seconds.
  func clip(of film: [UInt8]) -> [UInt8]? {
    let (first, last) = (start / 1000 * 1000, (end + 999) / 1000 * 1000)
    guard let span = MediaSpan(from: MediaTime(milliseconds: first), to: MediaTime(milliseconds: last)) else {
      return nil
    }
    return film + Array(".\(span).as.mp4".utf8)
  }

  /// The time of the start, such as `1:02:03`.
  var time: String {
    let seconds = start / 1000
    func digits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let minutes = seconds / 60 % 60
    return seconds < 3600
      ? "\(minutes):\(digits(seconds % 60))" : "\(seconds / 3600):\(digits(minutes)):\(digits(seconds % 60))"
  }
}
