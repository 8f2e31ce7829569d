/// A mailbox in an address field (RFC 5322 §3.4).
public struct MailAddress: Sendable, Equatable {
  /// The decoded name. Nil if there is none.
  public var displayName: String?
  /// The address as written, without brackets, comments and spaces. Empty if there is none.
  public var address: String

  /// Parses the first mailbox of an address list. Returns `nil` if there is nothing like one.
  ///
  /// For a group, the first member is used. A comment replaces a missing display name. Missing or unterminated brackets
  /// are tolerated, as is a comma in a name. O(n).
  public init?(firstOf list: ArraySlice<UInt8>) { self.init(firstOf: list.span) }

  /// `declared` is the declared character set of unencoded text.
  init?(firstOf list: Span<UInt8>, declared: ArraySlice<UInt8>? = nil) {
    var reader = AddressReader(list.array)
    guard let found = reader.first() else { return nil }
    let name = EncodedWords.decode(found.name[...], declared: declared)
    displayName = name.isEmpty ? nil : name
    address = Charset.raw(found.address[...], declared: declared)
  }

  /// The display name, or else the address.
  public var label: String { displayName ?? address }
}

/// A sequential parser for one mailbox.
private struct AddressReader {
  private let bytes: [UInt8]
  private var index = 0
  /// The text outside brackets and comments, unquoted.
  private var phrase: [UInt8] = []
  /// The text outside brackets and comments, as written.
  private var verbatim: [UInt8] = []
  private var comment: [UInt8] = []
  /// Whether the phrase contains an `@`.
  private var hasAt = false

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func first() -> (name: [UInt8], address: [UInt8])? {
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      switch byte {
      case 0x22: quoted()
      case 0x28: parenthesis()
      case 0x3c:
        let address = bracket()
        if !address.isEmpty || !phrase.isEmpty || !comment.isEmpty {
          return (phrase.isEmpty ? comment : phrase, address)
        }
      case 0x2c, 0x3b:
        if hasAt { return bare() }
        // Tolerates `Doe, John <j@example.org>`.
        if !phrase.isEmpty { append(byte) }
      case 0x3a where !hasAt:
        // The phrase so far was a group's name.
        phrase = []
        verbatim = []
      default: append(byte)
      }
    }
    return bare()
  }

  private mutating func append(_ byte: UInt8) {
    if byte == 0x0a || byte == 0x0d { return }
    let plain = byte == 0x09 ? 0x20 : byte
    if plain == 0x20, phrase.last ?? 0x20 == 0x20 { return }
    if plain == 0x40 { hasAt = true }
    phrase.append(plain)
    verbatim.append(plain)
  }

  /// Reads from after a quote up to the next.
  private mutating func quoted() {
    verbatim.append(0x22)
    while index < bytes.count, bytes[index] != 0x22 {
      if bytes[index] == 0x5c, index + 1 < bytes.count {
        verbatim.append(bytes[index])
        index += 1
      }
      let byte = bytes[index]
      if byte != 0x0a, byte != 0x0d {
        if byte == 0x40 { hasAt = true }
        phrase.append(byte)
        verbatim.append(byte)
      }
      index += 1
    }
    verbatim.append(0x22)
    index += 1
  }

  /// Reads from after a parenthesis up to the closing one. Only the first comment is kept.
  private mutating func parenthesis() {
    let isFirst = comment.isEmpty
    var depth = 1
    while index < bytes.count {
      var byte = bytes[index]
      index += 1
      if byte == 0x28 { depth += 1 }
      if byte == 0x29 {
        depth -= 1
        if depth == 0 { return }
      }
      if byte == 0x5c, index < bytes.count {
        byte = bytes[index]
        index += 1
      }
      if isFirst { comment.append(byte) }
    }
  }

  /// Reads the address from after `<` up to `>`, without a route (§4.4) and spaces.
  private mutating func bracket() -> [UInt8] {
    var address: [UInt8] = []
    var isQuoted = false
    while index < bytes.count, isQuoted || bytes[index] != 0x3e {
      let byte = bytes[index]
      if byte == 0x22 { isQuoted.toggle() }
      if byte == 0x3a, address.first == 0x40 {
        address = []
      } else if isQuoted ? byte != 0x0a && byte != 0x0d : !byte.isMailSpace && byte != 0x3c {
        address.append(byte)
      }
      index += 1
    }
    index += 1
    return address
  }

  /// Returns the result without brackets: the last word with an `@` is the address, the rest a name.
  private func bare() -> (name: [UInt8], address: [UInt8])? {
    guard !phrase.isEmpty || !comment.isEmpty else { return nil }
    // A quoted local part belongs to the address.
    let text = verbatim.span.trimmed
    let words = verbatim[text].split(separator: 0x20)
    guard let address = words.last(where: { $0.contains(0x40) }) else {
      return (phrase.isEmpty ? comment : phrase, [])
    }
    if verbatim.first == 0x22, verbatim.contains(where: { $0 == 0x20 }), address.contains(0x22) {
      return (comment, Array(verbatim[text]))
    }
    let name = words.filter { $0 != address }.joined(separator: [0x20]).filter { $0 != 0x22 }
    return (name.isEmpty ? comment : name, Array(address))
  }
}
