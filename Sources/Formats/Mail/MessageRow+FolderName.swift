public import Bytes

/// The name of a message's folder: `000123 2024-05-03 Example Sender - Q3 numbers`.
extension MessageRow {
  /// In characters.
  private static let longestName = 120
  /// NAME_MAX, in bytes.
  private static let nameLimit = 255
  /// Of a sender, in characters, so that something is left for the subject.
  private static let longestSender = 60

  /// The name of the folder of the message that is the `position`th of its mailbox; the first is 1.
  ///
  /// The date is that of the zone that the message was written in. At most 120 characters and 255 bytes, cut where a character
  /// ends; UTF-8, without `/`, control characters and characters that turn the direction of others.
  public func folderName(position: Int) -> FileName {
    let digits = String(position)
    let number = String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    let from = shownSender
    let about = MessageRow.clean(subject)
    let name =
      number + " " + (day ?? "undated") + " " + (from.isEmpty ? "unknown sender" : from) + " - "
      + (about.isEmpty ? "no subject" : about)
    return FileName(MessageRow.cut(name, MessageRow.longestName, MessageRow.nameLimit))
  }

  /// The position that a folder's name starts with; nil when it starts otherwise.
  public static func position(inFolderName name: FileName) -> Int? {
    let digits = name.bytes.prefix { $0.isAsciiDigit }
    guard (6...15).contains(digits.count), digits.count == 6 || digits.first != 0x30,
      name.bytes.dropFirst(digits.count).first == 0x20
    else { return nil }
    return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }

  /// `2024-05-03`; nil when there is none, or none within the years that have four digits.
  public var day: String? {
    civil.map { "\(MessageRow.padded($0.year, 4))-\(MessageRow.padded($0.month, 2))-\(MessageRow.padded($0.day, 2))" }
  }

  /// `2024/05`, of the same date.
  public var month: String? {
    civil.map { "\(MessageRow.padded($0.year, 4))/\(MessageRow.padded($0.month, 2))" }
  }

  /// The same of the day that is so many days from 1970-01-01.
  public static func month(ofDay day: Int) -> String? {
    let civil = MailDate.civil(day)
    guard (0...9999).contains(civil.year) else { return nil }
    return "\(padded(civil.year, 4))/\(padded(civil.month, 2))"
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: width - digits.count) + digits
  }

  private var civil: (year: Int, month: Int, day: Int)? {
    guard let localDay else { return nil }
    let civil = MailDate.civil(localDay)
    return (0...9999).contains(civil.year) ? civil : nil
  }

  /// Days from 1970-01-01 to the day on which the message was written, in the zone that it was written in.
  public var localDay: Int? {
    guard let date else { return nil }
    let (local, isOver) = date.addingReportingOverflow(Int64(zone) * 60)
    // Four digits' worth of seconds, about.
    guard !isOver, (-70_000_000_000...260_000_000_000).contains(local) else { return nil }
    return Int((Double(local) / 86400).rounded(.down))
  }

  /// Who wrote the message, as the folder's name says it; empty when nobody is named.
  public var shownSender: String {
    MessageRow.cut(MessageRow.clean(sender), MessageRow.longestSender, MessageRow.nameLimit)
  }

  /// The subject, without what is not seen; perhaps empty.
  public var shownSubject: String { MessageRow.clean(subject, isName: false) }

  /// Text as part of a folder's name, with room for a number behind it; empty when there is nothing to be seen in it.
  public static func folderText(_ text: String) -> String {
    cut(clean(text), longestName - 10, nameLimit - 15)
  }

  /// Text that can be part of a name, where `/` becomes `-`, or of a line: a run of spaces one, and what is not seen is left out.
  private static func clean(_ text: String, isName: Bool = true) -> String {
    var result: [UInt8] = []
    result.reserveCapacity(text.utf8.count)
    var isBehindSpace = true
    for scalar in text.unicodeScalars {
      if isSpace(scalar) {
        if !isBehindSpace { result.append(0x20) }
        isBehindSpace = true
      } else if !isUnseen(scalar) {
        if scalar.value < 0x80 {
          result.append(scalar == "/" && isName ? 0x2d : UInt8(scalar.value))
        } else {
          result += UTF8.encode(scalar) ?? .init()
        }
        isBehindSpace = false
      }
    }
    if result.last == 0x20 { result.removeLast() }
    return String(decoding: result, as: UTF8.self)
  }

  /// What has the property White_Space, of which nearly all text is told here and not in the standard library's tables.
  private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09...0x0d, 0x20, 0x85, 0xa0: true
    case ..<0x1680, 0x3001...: false
    default: scalar.properties.isWhitespace
    }
  }

  /// Control characters, those that turn the direction of others (UAX 9), and the byte order mark.
  private static func isUnseen(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7f...0x9f, 0x202a...0x202e, 0x2066...0x2069, 0xfeff: true
    default: false
    }
  }

  /// The first characters, without spaces at their end.
  private static func cut(_ text: String, _ characters: Int, _ bytes: Int) -> String {
    if text.utf8.count <= characters, text.utf8.last != 0x20 { return text }
    var end = text.startIndex
    var size = 0
    for character in text.prefix(characters) {
      size += character.utf8.count
      if size > bytes { break }
      end = text.index(after: end)
    }
    var result = text[..<end]
    while result.last == " " { result.removeLast() }
    return String(result)
  }
}
