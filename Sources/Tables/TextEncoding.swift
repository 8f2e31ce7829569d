/// How the bytes of a text stand for characters.
enum TextEncoding: Hashable, Sendable {
  /// UTF-8 or Windows-1252: nothing but ASCII has been seen yet.
  case undecided
  case utf8
  /// What Latin-1 is taken for, as browsers do.
  case windows1252
  case utf16LittleEndian
  case utf16BigEndian
  case utf32LittleEndian
  case utf32BigEndian

  /// What a text is that starts so: a byte order mark tells, or where the NULs of ASCII characters are.
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
    }
  }

  /// Without a mark.
  private static func guess(_ head: ArraySlice<UInt8>) -> TextEncoding {
    var zeros = [0, 0, 0, 0]
    for (index, byte) in head.enumerated() where byte == 0 { zeros[index % 4] += 1 }
    let quarter = head.count / 4
    guard quarter > 0 else { return .undecided }
    // A text of Western words has nearly all of them, one of Chinese words those of its separators.
    let odd = zeros[1] + zeros[3]
    let even = zeros[0] + zeros[2]
    if odd == 0, even == 0 { return .undecided }
    if min(zeros[2], zeros[3]) * 4 > 3 * quarter { return .utf32LittleEndian }
    if min(zeros[0], zeros[1]) * 4 > 3 * quarter { return .utf32BigEndian }
    if odd > 4 * even, odd > quarter / 4 { return .utf16LittleEndian }
    if even > 4 * odd, even > quarter / 4 { return .utf16BigEndian }
    return .undecided
  }

  /// iconv's name of what is converted by it.
  var iconvName: String? {
    switch self {
    case .undecided, .utf8: nil
    case .windows1252: "WINDOWS-1252"
    case .utf16LittleEndian: "UTF-16LE"
    case .utf16BigEndian: "UTF-16BE"
    case .utf32LittleEndian: "UTF-32LE"
    case .utf32BigEndian: "UTF-32BE"
    }
  }

  /// In bytes.
  var unit: Int {
    switch self {
    case .undecided, .utf8, .windows1252: 1
    case .utf16LittleEndian, .utf16BigEndian: 2
    case .utf32LittleEndian, .utf32BigEndian: 4
    }
  }
}
