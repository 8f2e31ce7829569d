internal import Text

/// The name of an element or an attribute: at most 24 bytes, in lower case, packed into one value.
struct HTMLName: Hashable, Sendable {
  private var words: (UInt64, UInt64, UInt64) = (0, 0, 0)

  static let longest = 24

  /// Returns `nil` if a name is empty or longer than any known one.
  init?(_ name: ArraySlice<UInt8>) {
    guard !name.isEmpty, name.count <= Self.longest else { return nil }
    for byte in name { add(byte.asciiLowercase) }
  }

  /// Creates a name from a table.
  init(_ name: Substring) { for byte in name.utf8 { add(byte) } }

  private mutating func add(_ byte: UInt8) {
    words.0 = words.0 << 8 | words.1 >> 56
    words.1 = words.1 << 8 | words.2 >> 56
    words.2 = words.2 << 8 | UInt64(byte)
  }

  static func == (one: HTMLName, other: HTMLName) -> Bool { one.words == other.words }

  func hash(into hasher: inout Hasher) {
    hasher.combine(words.1)
    hasher.combine(words.2)
  }
}
