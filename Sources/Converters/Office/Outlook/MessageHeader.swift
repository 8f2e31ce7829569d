internal import Bytes
internal import Text
internal import WorkerKit

/// The header of a message, as it was received or from Outlook's properties.
struct MessageHeader {
  /// The lines without line ends, except those that describe parts.
  private(set) var lines: [String] = []
  private let properties: any MessageProperties

  init(_ message: OutlookMessage) throws(JobFailure) {
    properties = message.properties
    var given: Set<String> = []
    let received = try properties.text(0x7d)
    for field in Self.fields(received ?? "") {
      given.insert(field.name)
      lines += field.lines
    }
    func add(_ name: String, _ value: String?) {
      guard !given.contains(name.lowercased()), let value, !value.isEmpty else { return }
      lines.append("\(name): \(value)")
    }
    let author = try sender(name: 0x0042, addresses: [0x5d02, 0x0065])
    let sender = try sender(name: 0x0c1a, addresses: [0x5d01, 0x0c1f])
    add("From", author ?? sender)
    for (kind, name) in [(1, "To"), (2, "Cc"), (3, "Bcc")] {
      var addresses: [String] = []
      for recipient in message.recipients where recipient.number(0x0c15).map({ $0 & 15 }) == kind {
        let address = try recipient.text(anyOf: [0x39fe, 0x3003])
        addresses.append(Self.mailbox(try recipient.text(0x3001), address))
      }
      add(name, addresses.joined(separator: ",\n "))
    }
    add("Subject", try properties.text(0x0037).map(Self.encoded))
    add("Date", [0x0039, 0x0e06, 0x3007, 0x3008].firstNonNil(properties.time).flatMap(OutlookDate.text))
    add("Message-ID", try properties.text(0x1035).flatMap(Self.plain))
    add("In-Reply-To", try properties.text(0x1042).flatMap(Self.plain))
    add("References", try properties.text(0x1039).flatMap(Self.plain))
    let importance = properties.number(0x17)
    add("Importance", importance == 2 ? "high" : importance == 0 ? "low" : nil)
  }

  /// Returns the fields of a received header, in order, without those that describe parts.
  private static func fields(_ text: String) -> [(name: String, lines: [String])] {
    var fields: [(name: String, lines: [String])] = []
    for line in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
      if line.isEmpty {
        if fields.isEmpty { continue }
        break
      }
      if line.first == " " || line.first == "\t" {
        if !fields.isEmpty { fields[fields.count - 1].lines.append(String(line)) }
        continue
      }
      guard let colon = line.firstIndex(of: ":"),
        line[..<colon].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
      else { continue }
      fields.append((line[..<colon].lowercased(), [String(line)]))
    }
    return fields.filter { !$0.name.hasPrefix("content-") && $0.name != "mime-version" }
  }

  /// Returns the sender that these properties describe.
  private func sender(name: UInt16, addresses: [UInt16]) throws(JobFailure) -> String? {
    let shown = try properties.text(name)
    let address = try properties.text(anyOf: addresses)
    return shown == nil && address == nil ? nil : Self.mailbox(shown, address)
  }

  // MARK: RFC 5322, 2047 and 2231

  /// Returns a mailbox. Omits addresses that are not mail addresses.
  private static func mailbox(_ name: String?, _ address: String?) -> String {
    let plain = address.flatMap(plain).flatMap { $0.contains("@") && !$0.contains(" ") ? $0 : nil }
    let bare = plain?.filter { $0 != "<" && $0 != ">" } ?? ""
    guard let name, name != bare else { return "<\(bare)>" }
    if name.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) {
      return "\"\(name.filter { $0 != "\"" && $0 != "\\" })\" <\(bare)>"
    }
    return "\(encoded(name)) <\(bare)>"
  }

  /// Returns text that needs no encoding in a header, on one line. Returns `nil` for other text.
  static func plain(_ text: String) -> String? {
    let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return line.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f } && line.utf8.count < 900 && !line.isEmpty ? line : nil
  }

  /// Returns text in one or more encoded words, if it is not plain.
  static func encoded(_ text: String) -> String {
    if let plain = plain(text) { return plain }
    var words: [String] = []
    var word: [UInt8] = []
    for scalar in text.unicodeScalars {
      let bytes = Array(String(scalar == "\n" || scalar == "\r" ? " " : Character(scalar)).utf8)
      if word.count + bytes.count > 45 {
        words.append("=?utf-8?B?\(Base64.text(word))?=")
        word = []
      }
      word += bytes
    }
    if !word.isEmpty { words.append("=?utf-8?B?\(Base64.text(word))?=") }
    return words.joined(separator: "\n ")
  }

  /// Returns text in which bytes that a parameter cannot contain are percent-encoded.
  static func escaped(_ text: String) -> String {
    text.utf8.reduce(into: "") { escaped, byte in
      if isTokenByte(byte), byte != 0x27, byte != 0x2a, byte != 0x25 {
        escaped.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        escaped += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
      }
    }
  }

  /// Returns whether a token of RFC 2045 can contain a byte.
  static func isTokenByte(_ byte: UInt8) -> Bool {
    byte > 0x20 && byte < 0x7f && !"()<>@,;:\\\"/[]?=".utf8.contains(byte)
  }
}
