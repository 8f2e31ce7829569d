public import Bytes
internal import Text

/// The name of a message's directory: `000123 2024-05-03 Example Sender - Q3 numbers`.
extension MessageRow {
  /// The maximum length of a name, in characters.
  private static let longestName = 120
  /// NAME_MAX, in bytes.
  private static let nameLimit = 255
  /// The maximum length of a sender, in characters, so that space is left for the subject.
  private static let longestSender = 60

  /// Returns the name of the directory of the `position`th message of a mailbox. The first is 1.
  ///
  /// The date is in the zone of the sender. At most 120 characters and 255 bytes, cut at a character boundary. UTF-8,
  /// without `/`, control characters and bidi controls.
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

  /// Returns the position at the start of a directory's name. Returns `nil` if there is none.
  public static func position(inFolderName name: FileName) -> Int? {
    let digits = name.bytes.prefix { $0.isAsciiDigit }
    guard (6...15).contains(digits.count), digits.count == 6 || digits.first != 0x30,
      name.bytes.dropFirst(digits.count).first == 0x20
    else { return nil }
    return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }

  /// Returns the day in a directory's name, in days since 1970. Returns `nil` if there is none.
  public static func day(inFolderName name: FileName) -> Int? {
    guard let digits = position(inFolderName: name).map({ max(6, String($0).utf8.count) }) else { return nil }
    let parts = name.bytes.dropFirst(digits + 1).prefix { $0 != 0x20 }.split(separator: UInt8(ascii: "-"))
      .map { Int(String(decoding: $0, as: UTF8.self)) }
    guard parts.count == 3, let year = parts[0], let month = parts[1], let day = parts[2] else { return nil }
    return MailDate.daysSince1970(year: year, month: month, day: day)
  }

  /// The date, as `2024-05-03`. Nil if it is missing or its year does not have four digits.
  public var day: String? {
    civil.map { "\(MessageRow.padded($0.year, 4))-\(MessageRow.padded($0.month, 2))-\(MessageRow.padded($0.day, 2))" }
  }

  /// The month of that date, as `2024/05`.
  public var month: String? {
    civil.map { "\(MessageRow.padded($0.year, 4))/\(MessageRow.padded($0.month, 2))" }
  }

  /// Returns the month of a number of days since 1970-01-01.
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

  /// The days from 1970-01-01 to the day of writing, in the zone of the sender.
  public var localDay: Int? {
    date.flatMap { MailDate(seconds: $0, zoneMinutes: zone).localDay }.map { Int($0) }
  }

  /// The sender as in the directory's name. Empty if there is none.
  public var shownSender: String {
    MessageRow.cut(MessageRow.clean(sender), MessageRow.longestSender, MessageRow.nameLimit)
  }

  /// The subject, without invisible characters. May be empty.
  public var shownSubject: String { MessageRow.clean(subject, isName: false) }

  /// Returns text for a directory's name, with space for a number after it. Empty if nothing visible is left.
  public static func folderText(_ text: String) -> String {
    cut(clean(text), longestName - 10, nameLimit - 15)
  }

  /// Returns text for a file name, where `/` becomes `-`, or for a line. Collapses spaces, and removes invisible
  /// characters.
  private static func clean(_ text: String, isName: Bool = true) -> String {
    if isClean(text, isName) { return text }
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

  /// Returns whether ASCII text is already clean, which most is.
  private static func isClean(_ text: String, _ isName: Bool) -> Bool {
    var last: UInt8 = 0x20
    for byte in text.utf8 {
      guard (0x20...0x7e).contains(byte), byte != 0x20 || last != 0x20, byte != 0x2f || !isName else { return false }
      last = byte
    }
    return last != 0x20 || text.isEmpty
  }

  /// Returns the property White_Space, for most text without the standard library's tables.
  private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09...0x0d, 0x20, 0x85, 0xa0: true
    case ..<0x1680, 0x3001...: false
    default: scalar.properties.isWhitespace
    }
  }

  /// Returns whether a scalar is a control character, a bidi control (UAX 9) or the byte order mark.
  private static func isUnseen(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7f...0x9f, 0x202a...0x202e, 0x2066...0x2069, 0xfeff: true
    default: false
    }
  }

  /// Returns the first characters, without trailing spaces.
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
