/// Text whose seven-bit escape sequences switch between sets (RFC 1468, RFC 1843), as in older mail.
///
/// It is converted to an eight-bit encoding, for which iconv has larger tables. Senders use vendors' characters, such
/// as ① and 髙, under the standard's name. Every line starts in ASCII.
enum ShiftedText {
  /// ISO-2022-JP with half-width katakana.
  case japanese
  /// HZ.
  case chinese

  /// Finds the kind of a set. Returns `nil` if the set has no such sequences.
  init?(_ name: String) {
    switch name {
    case CharsetConverter.japaneseMail: self = .japanese
    case CharsetConverter.chineseMail: self = .chinese
    default: return nil
    }
  }

  /// Iconv's name for the encoding that `unshifted` returns.
  var target: String {
    switch self {
    case .japanese: "CP932"
    case .chinese: "GB18030"
    }
  }

  /// Converts text to the target encoding. Invalid bytes are left for iconv to reject. O(n).
  func unshifted(_ text: ArraySlice<UInt8>) -> [UInt8] {
    switch self {
    case .japanese: Self.japanese(text)
    case .chinese: Self.chinese(text)
    }
  }

  private enum Japanese {
    case single
    case katakana
    case double
  }

  private static func japanese(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var state = Japanese.single
    var index = text.startIndex
    while index < text.endIndex {
      let byte = text[index]
      if byte == 0x1b, let (next, count) = escape(text[(index + 1)...].prefix(3)) {
        state = next ?? state
        index += 1 + count
        continue
      }
      index += 1
      switch byte {
      case 0x0a, 0x0d:
        state = .single
        result.append(byte)
      case 0x0e: state = .katakana
      case 0x0f: state = .single
      case 0x21...0x7e where state == .double:
        guard index < text.endIndex, (0x21...0x7e).contains(text[index]) else {
          // An incomplete character.
          result.append(0xff)
          continue
        }
        result += shiftJIS(byte, text[index])
        index += 1
      case 0x21...0x5f where state == .katakana: result.append(byte | 0x80)
      default: result.append(byte)
      }
    }
    return result
  }

  /// Parses the escape sequence after ESC. Returns the new state, or nil if it does not change, and the length of the
  /// sequence. Returns `nil` if the sequence is unknown.
  private static func escape(_ tail: ArraySlice<UInt8>) -> (state: Japanese?, count: Int)? {
    switch tail.prefix(2) {
    case [0x28, 0x42], [0x28, 0x4a], [0x28, 0x48]: return (.single, 2)
    case [0x28, 0x49]: return (.katakana, 2)
    case [0x24, 0x40], [0x24, 0x42]: return (.double, 2)
    case [0x26, 0x40]: return (nil, 2)
    case [0x24, 0x28]: return [0x40, 0x42].contains(tail.last ?? 0) && tail.count == 3 ? (.double, 3) : nil
    default: return nil
    }
  }

  /// Returns a character of the JIS X 0208 plane in Shift_JIS.
  private static func shiftJIS(_ row: UInt8, _ column: UInt8) -> [UInt8] {
    let row = row - 0x21
    let column = column - 0x21
    let lead = (row / 2) + (row < 62 ? 0x81 : 0xc1)
    let place = row % 2 == 1 ? column + 94 : column
    return [lead, place + (place < 63 ? 0x40 : 0x41)]
  }

  private static func chinese(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var isDouble = false
    var index = text.startIndex
    while index < text.endIndex {
      let byte = text[index]
      index += 1
      if byte == 0x0a || byte == 0x0d { isDouble = false }
      if byte == 0x7e, index < text.endIndex {
        switch text[index] {
        case 0x7b:
          isDouble = true
          index += 1
          continue
        case 0x7d:
          isDouble = false
          index += 1
          continue
        case 0x7e where !isDouble:
          result.append(byte)
          index += 1
          continue
        case 0x0a where !isDouble:
          index += 1
          continue
        default: break
        }
      }
      result.append(isDouble && byte > 0x20 ? byte | 0x80 : byte)
    }
    return result
  }
}
