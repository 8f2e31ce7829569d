internal import Text

/// The character encoding of a text.
enum TableEncoding: Hashable, Sendable {
  /// UTF-8 or Windows-1252, decided by the first character that is not ASCII.
  case undecided
  case utf8
  /// Windows-1252. Used for Latin-1, too, as in browsers.
  case windows1252
  /// Another detected character set, by the converter's name.
  case charset(String)
  case utf16LittleEndian
  case utf16BigEndian
  case utf32LittleEndian
  case utf32BigEndian

  /// Detects the encoding of a text that starts with `head`. A byte order mark decides, or the positions of NULs in
  /// ASCII characters, or a majority of valid UTF-8 beyond ASCII. Otherwise, the encoding is detected by its letters.
  init(ofTextStartingWith head: ArraySlice<UInt8>) {
    if head.starts(with: [0xef, 0xbb, 0xbf]) {
      self = .utf8
    } else if head.starts(with: [0xff, 0xfe, 0, 0]) {
      self = .utf32LittleEndian
    } else if head.starts(with: [0, 0, 0xfe, 0xff]) {
      self = .utf32BigEndian
    } else if head.starts(with: [0xff, 0xfe]) {
      self = .utf16LittleEndian
    } else if head.starts(with: [0xfe, 0xff]) {
      self = .utf16BigEndian
    } else {
      self = Self.guess(head.prefix(4096))
      if self == .undecided, UTF8Sequence.isMost(of: head) { self = .utf8 }
      if self == .undecided, let other = Self.other(head) { self = other }
    }
  }

  /// Detects the encoding of a text without a byte order mark.
  private static func guess(_ head: ArraySlice<UInt8>) -> TableEncoding {
    // Trailing NULs are padding, except those of the last character.
    guard let last = head.lastIndex(where: { $0 != 0 }) else { return .undecided }
    let head = head[..<min(head.endIndex, last + 4 - (last - head.startIndex) % 4)]
    var zeros = [0, 0, 0, 0]
    for (index, byte) in head.enumerated() where byte == 0 { zeros[index % 4] += 1 }
    let quarter = head.count / 4
    if quarter > 1 {
      // Each character has a byte that is not zero.
      if min(zeros[2], zeros[3]) * 4 > 3 * quarter, zeros[0] * 4 <= quarter { return .utf32LittleEndian }
      if min(zeros[0], zeros[1]) * 4 > 3 * quarter, zeros[3] * 4 <= quarter { return .utf32BigEndian }
    }
    // Nearly all units of Western text have a NUL. In Chinese text, those of separators do. A few in plain ASCII are
    // damage: every other script has bytes that are not ASCII.
    let units = head.count / 2
    let enough = max(2, head.allSatisfy(isPlainOrZero) ? (units + 1) / 2 : (units + 7) / 8)
    let odd = zeros[1] + zeros[3]
    let even = zeros[0] + zeros[2]
    if odd >= enough, odd > 4 * even { return .utf16LittleEndian }
    if even >= enough, even > 4 * odd { return .utf16BigEndian }
    return .undecided
  }

  private static func isPlainOrZero(_ byte: UInt8) -> Bool {
    switch byte {
    case 0, 0x09...0x0d, 0x20...0x7e: true
    default: false
    }
  }

  /// Returns the detected character set of a text that is neither UTF-8 nor Windows-1252. Returns `nil` if none is
  /// detected, or if the first character that is not ASCII is valid UTF-8.
  private static func other(_ head: ArraySlice<UInt8>) -> TableEncoding? {
    guard let start = head.firstIndex(where: { $0 >= 0x80 }) else { return nil }
    let length = UTF8Sequence.length(startingWith: head[start])
    if UTF8Sequence.isValid(head[start...].prefix(length)) { return nil }
    let separators = Set("\n\r,;\t\"".utf8)
    let name = CharsetDetector.charset(of: head.prefix(64 << 10).split { separators.contains($0) }, in: .text)
    return name == CharsetDetector.western ? nil : .charset(name)
  }

  /// The encoding's name in iconv. Nil if iconv is not needed.
  var iconvName: String? {
    switch self {
    case .undecided, .utf8: nil
    case .windows1252: CharsetDetector.western
    case .charset(let name): name
    case .utf16LittleEndian: "UTF-16LE"
    case .utf16BigEndian: "UTF-16BE"
    case .utf32LittleEndian: "UTF-32LE"
    case .utf32BigEndian: "UTF-32BE"
    }
  }

  /// The size of a code unit, in bytes.
  var unit: Int {
    switch self {
    case .undecided, .utf8, .windows1252, .charset: 1
    case .utf16LittleEndian, .utf16BigEndian: 2
    case .utf32LittleEndian, .utf32BigEndian: 4
    }
  }
}
