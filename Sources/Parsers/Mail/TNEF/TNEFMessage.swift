internal import Bytes
internal import Text

/// The properties of a message in TNEF, for one without a header.
struct TNEFMessage: Sendable {
  struct Text: Sendable {
    let bytes: [UInt8]
    /// Whether the text is in UTF-8, not in the code page.
    let isUnicode: Bool
  }

  var subject: Text?
  var senderName: Text?
  var senderAddress: Text?
  /// The names only, separated by semicolons.
  var recipients: Text?
  var copied: Text?
  var id: Text?
  /// The date, in seconds since 1970.
  var date: Int64?

  /// Takes a property of the message, by its tag ([MS-OXPROPS]). The first value is kept unless a preferred one
  /// follows.
  mutating func take(_ tag: UInt16, _ text: Text) {
    if text.bytes.isEmpty { return }
    switch tag {
    case 0x0037: subject = subject ?? text
    // The represented sender is preferred to the actual one.
    case 0x0042: senderName = text
    case 0x0c1a: senderName = senderName ?? text
    case 0x5d02: senderAddress = text
    case 0x0065 where text.bytes.contains(0x40): senderAddress = senderAddress ?? text
    case 0x5d01,
      0x0c1f where text.bytes.contains(0x40):
      senderAddress = senderAddress ?? text
    case 0x0e04: recipients = text
    case 0x0e03: copied = text
    case 0x1035: id = text
    default: break
    }
  }

  /// Takes a time, in units of 100 ns since 1601. The time of sending is preferred.
  mutating func take(_ tag: UInt16, fileTime: UInt64) {
    let seconds = Int64(fileTime / 10_000_000) - 11_644_473_600
    if tag == 0x0039 { date = seconds } else if tag == 0x0e06 { date = date ?? seconds }
  }

  /// Returns a message header (RFC 5322) for a body that is the TNEF in base64.
  func header(codePage: String?) -> [UInt8] {
    let label = codePage.map { Array($0.utf8)[...] }
    func string(_ text: Text?) -> String {
      guard let text else { return "" }
      return text.isUnicode ? String(decoding: text.bytes, as: UTF8.self) : Charset.text(text.bytes[...], named: label)
    }
    var lines: [String] = []
    let (name, address) = (string(senderName), string(senderAddress).filter { $0.isASCII && $0 > " " && $0 != ">" })
    let sender = Self.encoded(name) + (address.isEmpty ? "" : " <\(address)>")
    if !name.isEmpty || !address.isEmpty { lines.append("From: \(sender)") }
    for (field, text) in [("To", recipients), ("Cc", copied), ("Subject", subject)] where text != nil {
      lines.append("\(field): \(Self.encoded(string(text)))")
    }
    if let date = date.flatMap({ Self.date($0) }) { lines.append("Date: \(date)") }
    let id = string(self.id).filter { $0.isASCII && $0 > " " && $0 != "<" && $0 != ">" }
    if !id.isEmpty, id.utf8.count < 900 { lines.append("Message-ID: <\(id)>") }
    lines += [
      "MIME-Version: 1.0", "Content-Type: application/ms-tnef; name=\"winmail.dat\"",
      "Content-Transfer-Encoding: base64", "", "",
    ]
    return Array(lines.joined(separator: "\n").utf8)
  }

  /// Returns encoded words (RFC 2047), one per line. Plain letters, digits and spaces are unchanged.
  private static func encoded(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { $0 == 0x20 || $0 == 0x2d || $0 == 0x2e || $0.isAsciiLetter || $0.isAsciiDigit }
    if isPlain, text.utf8.count < 900 { return text }
    var words: [String] = []
    var word: [UInt8] = []
    func end() {
      let source = Base64Source(ByteArraySource(word))
      let letters = (try? source.bytes(at: 0, count: Int(source.size))) ?? []
      words.append("=?utf-8?B?\(String(decoding: letters.filter { $0 != 0x0a }, as: UTF8.self))?=")
      word = []
    }
    for scalar in text.unicodeScalars.prefix(1000) {
      let bytes = Array(String(scalar).utf8)
      if word.count + bytes.count > 42 { end() }
      word += bytes
    }
    if !word.isEmpty { end() }
    return words.joined(separator: "\n ")
  }

  /// Returns a date as `3 May 2024 10:00:00 +0000`. Returns `nil` for a time out of range.
  private static func date(_ seconds: Int64) -> String? {
    guard seconds > -11_644_473_600, seconds < 253_402_300_800 else { return nil }
    let (day, time) = (
      Int((seconds - (seconds % 86400 + 86400) % 86400) / 86400), Int((seconds % 86400 + 86400) % 86400)
    )
    let civil = MailDate.civil(day)
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let clock = "\(two(time / 3600)):\(two(time / 60 % 60)):\(two(time % 60))"
    return "\(civil.day) \(months[civil.month - 1]) \(civil.year) \(clock) +0000"
  }
}
