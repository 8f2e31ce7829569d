internal import Bytes
internal import Codecs
internal import Text
internal import Tree

/// The label of a mailbox in a tree of mailboxes, as mail programs show it.
///
/// Thunderbird's `Inbox.sbd/Archive` is `Inbox/Archive`, `.Sent.2023` in a Maildir is `Sent/2023`, and the content of
/// Apple Mail's directory `Work.mbox` is `Work`.
struct MailLabel: Sendable {
  private var parts: [String] = []
  /// Whether it is of a directory of Apple Mail's, in which other directories add nothing to labels.
  private(set) var isInAppleMailbox = false

  private static let separator = "/"

  /// The text of the label. Empty for the root directory.
  var text: String { parts.joined(separator: Self.separator) }

  /// Returns the label of a subdirectory. `isInMaildir` says whether this directory is a Maildir.
  func folder(_ name: FileName, isInMaildir: Bool) -> MailLabel {
    var label = self
    if isInMaildir, name.bytes.first == UInt8(ascii: ".") {
      let names = name.bytes.dropFirst().split(separator: UInt8(ascii: "."))
      label.parts += names.map { Self.decoded($0) }
    } else if name.fileExtension == "mbox" || name.fileExtension == "sbd" {
      label.isInAppleMailbox = name.fileExtension == "mbox"
      label.parts.append(Self.stem(name))
    } else if !isInAppleMailbox {
      label.parts.append(name.text)
    }
    return label
  }

  /// Returns the label of a mailbox in this directory.
  func mailbox(_ name: FileName) -> MailLabel {
    var label = self
    if isInAppleMailbox, name == "mbox" { return label }
    let inner = CompressedFormat.innerName(of: name)
    label.parts.append(inner.fileExtension == "mbox" || inner.fileExtension == "mbx" ? Self.stem(inner) : inner.text)
    return label
  }

  /// The label of the messages of a Maildir that contains other mailboxes.
  var inbox: MailLabel {
    var label = self
    if parts.isEmpty { label.parts = ["Inbox"] }
    return label
  }

  private static func stem(_ name: FileName) -> String {
    String(decoding: name.bytes[..<(name.bytes.lastIndex(of: UInt8(ascii: ".")) ?? name.bytes.endIndex)], as: UTF8.self)
  }

  // MARK: Modified UTF-7

  /// Decodes a mailbox name as IMAP servers write it (RFC 3501 §5.1.3): `Entw&APw-rfe`. Malformed sequences stay
  /// unchanged.
  static func decoded(_ name: ArraySlice<UInt8>) -> String {
    var text = ""
    var rest = name
    while let byte = rest.first {
      if byte == UInt8(ascii: "&"), let end = rest.firstIndex(of: UInt8(ascii: "-")),
        let shifted = units(rest[(rest.startIndex + 1)..<end])
      {
        text += shifted
        rest = rest[(end + 1)...]
      } else {
        let end = rest.dropFirst().firstIndex(of: UInt8(ascii: "&")) ?? rest.endIndex
        text += String(decoding: rest[..<end], as: UTF8.self)
        rest = rest[end...]
      }
    }
    return text
  }

  /// Decodes Base64 of UTF-16, with a comma for the slash and without padding. An empty sequence is `&`.
  private static func units(_ base64: ArraySlice<UInt8>) -> String? {
    if base64.isEmpty { return "&" }
    var joined = Base64.Joined()
    var units: [UInt16] = []
    var high: UInt8?
    for byte in base64 {
      guard byte != UInt8(ascii: "/"), let value = byte == UInt8(ascii: ",") ? 63 : byte.base64Value else { return nil }
      guard let whole = joined.take(value) else { continue }
      if let first = high { units.append(UInt16(first) << 8 | UInt16(whole)) }
      high = high == nil ? whole : nil
    }
    return String(validating: units, as: UTF16.self)
  }
}
