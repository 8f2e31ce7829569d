internal import WorkerKit

/// The words, groups and bytes of an RTF file (Rich Text Format 1.9).
struct RichTextTokens {
  enum Token {
    case open, close
    /// The mark `\*`: a reader that does not know the following word may skip the group.
    case optional
    case word(String, Int?)
    /// A byte of text, in the code page.
    case byte(UInt8)
    /// A character that has one meaning in every code page.
    case sign(Unicode.Scalar)
  }

  /// The input. `nil` if all of it is in `piece`.
  private let input: JobInput?
  private var place = 0
  private var piece: [UInt8] = []
  private var index = 0
  private static let pieceSize = 64 << 10
  private static let longestWord = 32

  init(_ input: JobInput) { self.input = input }

  init(_ bytes: [UInt8]) {
    input = nil
    piece = bytes
  }

  private mutating func nextByte() -> UInt8? {
    if index == piece.count {
      guard let input else { return nil }
      piece = unsafe [UInt8](unsafeUninitializedCapacity: Self.pieceSize) { buffer, count in
        count = unsafe max(0, input.read(into: UnsafeMutableRawBufferPointer(buffer), at: place))
      }
      place += piece.count
      index = 0
      if piece.isEmpty { return nil }
    }
    index += 1
    return piece[index - 1]
  }

  /// Steps back by the last byte read.
  private mutating func giveBack() { index -= 1 }

  /// Returns the next token. Returns `nil` at the end.
  mutating func next() -> Token? {
    while let byte = nextByte() {
      switch byte {
      case 0x7b: return .open
      case 0x7d: return .close
      case 0x5c: return control()
      case 0x0a, 0x0d, 0: continue
      default: return .byte(byte)
      }
    }
    return nil
  }

  private mutating func control() -> Token? {
    guard let byte = nextByte() else { return nil }
    switch byte {
    case 0x61...0x7a, 0x41...0x5a: return word(byte)
    case 0x27: return hex()
    case 0x2a: return .optional
    case 0x7e: return .sign("\u{a0}")
    case 0x5f: return .sign("\u{2011}")
    case 0x2d: return .sign("\u{ad}")
    case 0x0a, 0x0d: return .word("par", nil)
    case 0x09: return .word("tab", nil)
    default: return .byte(byte)
    }
  }

  private mutating func hex() -> Token? {
    var value: UInt8 = 0
    for _ in 0..<2 {
      guard let digit = nextByte() else { return nil }
      guard let number = Character(UnicodeScalar(digit)).hexDigitValue else {
        giveBack()
        break
      }
      value = value << 4 | UInt8(number)
    }
    return .byte(value)
  }

  private mutating func word(_ first: UInt8) -> Token? {
    var name = [first]
    var number: Int?
    var isNegative = false
    while let byte = nextByte() {
      switch byte {
      case 0x61...0x7a, 0x41...0x5a:
        guard number == nil, !isNegative, name.count < Self.longestWord else { break }
        name.append(byte)
        continue
      case 0x30...0x39:
        number = min((number ?? 0) * 10 + Int(byte) - 0x30, Int(Int32.max))
        continue
      case 0x2d where number == nil && !isNegative:
        isNegative = true
        continue
      case 0x20: return .word(String(decoding: name, as: UTF8.self), isNegative ? number.map { -$0 } : number)
      default: break
      }
      giveBack()
      break
    }
    return .word(String(decoding: name, as: UTF8.self), isNegative ? number.map { -$0 } : number)
  }

  /// Skips bytes that are not text.
  mutating func skip(_ count: Int) {
    var left = max(0, count)
    while left > 0 {
      let here = min(left, piece.count - index)
      index += here
      left -= here
      if left > 0 {
        guard nextByte() != nil else { return }
        left -= 1
      }
    }
  }
}
