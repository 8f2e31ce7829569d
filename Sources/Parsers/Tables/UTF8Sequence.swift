/// Well-formed UTF-8 sequences (The Unicode Standard, table 3-7).
enum UTF8Sequence {
  /// Returns the length of a character with this first byte. Returns 0 if the byte is invalid.
  static func length(startingWith byte: UInt8) -> Int {
    switch byte {
    case ..<0x80: 1
    case 0xc2...0xdf: 2
    case 0xe0...0xef: 3
    case 0xf0...0xf4: 4
    default: 0
    }
  }

  /// Returns the valid range of the second byte of a character.
  static func second(behind first: UInt8) -> ClosedRange<UInt8> {
    switch first {
    case 0xe0: 0xa0...0xbf
    case 0xed: 0x80...0x9f
    case 0xf0: 0x90...0xbf
    case 0xf4: 0x80...0x8f
    default: 0x80...0xbf
    }
  }

  /// Returns whether these bytes are exactly one character.
  static func isValid(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard let first = bytes.first, bytes.count == length(startingWith: first) else { return false }
    return isStart(bytes)
  }

  /// Returns whether these bytes are a prefix of a character. The first one must be a valid first byte.
  static func isStart(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard let first = bytes.first else { return false }
    for (index, byte) in bytes.dropFirst().enumerated() {
      guard index == 0 ? second(behind: first).contains(byte) : byte & 0xc0 == 0x80 else { return false }
    }
    return true
  }

  /// Returns whether most text beyond ASCII is valid. A truncated character at the end is ignored.
  static func isMost(of text: ArraySlice<UInt8>) -> Bool {
    var characters = 0
    var faults = 0
    var index = text.startIndex
    while index < text.endIndex {
      if text[index] < 0x80 {
        index += 1
        continue
      }
      let length = length(startingWith: text[index])
      let character = text[index...].prefix(max(1, length))
      if isValid(character) {
        characters += 1
        index += length
      } else if character.count < length, isStart(character) {
        break
      } else {
        faults += 1
        index += 1
      }
    }
    return characters > faults
  }
}
