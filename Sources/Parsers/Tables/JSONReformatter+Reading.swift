internal import Text

extension JSONReformatter {
  /// Parses at least one byte from `index`, up to the end of the current state.
  mutating func step(_ text: Span<UInt8>, _ index: inout Int, _ output: inout TextOutput) {
    switch place {
    case .string: readString(text, &index, &output)
    case .number(let number): readNumber(number, text, &index, &output)
    case .literal(let word, let count): readLiteral(word, count, text, &index, &output)
    case .escape: readEscape(text, &index, &output)
    case .hexadecimal(let left): readHexadecimal(left, text, &index, &output)
    case .character(let left, let range): readCharacter(left, range, text, &index, &output)
    case .skipping: skip(text, &index)
    case .value, .firstItem, .firstKey, .key, .colon, .behindValue, .behindWord: readMark(text, &index, &output)
    }
  }

  private mutating func skip(_ text: Span<UInt8>, _ index: inout Int) {
    while index < text.count, text[index] != 0x0a { index += 1 }
    guard index < text.count else { return }
    noteLine(endingAt: index)
    index += 1
    place = .value
  }

  private mutating func readMark(_ text: Span<UInt8>, _ index: inout Int, _ output: inout TextOutput) {
    let byte = text[index]
    switch byte {
    case 0x20, 0x09, 0x0d:
      endWord()
      index += 1
    case 0x0a:
      endWord()
      // A line-bound value ends with its line.
      if isLineBound, stack.depth > 0 { return fail(at: index, found: byte, &output) }
      noteLine(endingAt: index)
      index += 1
    default:
      switch place {
      case .value: readValue(byte, &index, &output)
      case .firstItem:
        byte == UInt8(ascii: "]") ? close(byte, isEmpty: true, &index, &output) : readItem(byte, &index, &output)
      case .firstKey:
        byte == UInt8(ascii: "}") ? close(byte, isEmpty: true, &index, &output) : readKey(byte, &index, &output)
      case .key: readKey(byte, &index, &output)
      case .colon: readColon(byte, &index, &output)
      case .behindWord where Self.startsWord(byte): fail(at: index, found: byte, &output)
      case .behindWord:
        place = .value
        readValue(byte, &index, &output)
      default: readSeparator(byte, &index, &output)
      }
    }
  }

  private mutating func readItem(_ byte: UInt8, _ index: inout Int, _ output: inout TextOutput) {
    breakLine(&output)
    place = .value
    readValue(byte, &index, &output)
  }

  private mutating func readKey(_ byte: UInt8, _ index: inout Int, _ output: inout TextOutput) {
    guard byte == UInt8(ascii: "\"") else { return fail(at: index, found: byte, &output) }
    breakLine(&output)
    beginString(isKey: true, &index, &output)
  }

  private mutating func readColon(_ byte: UInt8, _ index: inout Int, _ output: inout TextOutput) {
    guard byte == UInt8(ascii: ":") else { return fail(at: index, found: byte, &output) }
    output.append(byte)
    output.append(0x20)
    place = .value
    index += 1
  }

  private mutating func readSeparator(_ byte: UInt8, _ index: inout Int, _ output: inout TextOutput) {
    let isObject = stack.isObject
    if byte == UInt8(ascii: ",") {
      output.append(byte)
      index += 1
      if isObject {
        place = .key
      } else {
        place = .value
        breakLine(&output)
      }
    } else if byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
      close(byte, isEmpty: false, &index, &output)
    } else {
      fail(at: index, found: byte, &output)
    }
  }

  private mutating func close(_ bracket: UInt8, isEmpty: Bool, _ index: inout Int, _ output: inout TextOutput) {
    stack.pop()
    if !isEmpty { breakLine(&output) }
    output.append(bracket)
    index += 1
    endValue(&output)
  }

  private mutating func readValue(_ byte: UInt8, _ index: inout Int, _ output: inout TextOutput) {
    switch byte {
    case UInt8(ascii: "\""): beginString(isKey: false, &index, &output)
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      let isObject = byte == UInt8(ascii: "{")
      guard stack.push(isObject: isObject) else {
        return fail(at: index, found: byte, &output, "it is nested deeper than \(NestingStack.deepest) levels")
      }
      beginValue()
      output.append(byte)
      index += 1
      place = isObject ? .firstKey : .firstItem
    case UInt8(ascii: "-"): begin(.number(.sign), byte, &index, &output)
    case UInt8(ascii: "0"): begin(.number(.zero), byte, &index, &output)
    case UInt8(ascii: "1")...UInt8(ascii: "9"): begin(.number(.digits), byte, &index, &output)
    case UInt8(ascii: "t"): begin(.literal("true", 1), byte, &index, &output)
    case UInt8(ascii: "f"): begin(.literal("false", 1), byte, &index, &output)
    case UInt8(ascii: "n"): begin(.literal("null", 1), byte, &index, &output)
    // Not JSON, but written by Python and other programs: shown unchanged.
    case UInt8(ascii: "N"): begin(.literal("NaN", 1), byte, &index, &output)
    case UInt8(ascii: "I"): begin(.literal("Infinity", 1), byte, &index, &output)
    default: fail(at: index, found: byte, &output)
    }
  }

  private mutating func begin(_ place: Place, _ byte: UInt8, _ index: inout Int, _ output: inout TextOutput) {
    beginValue()
    output.append(byte)
    index += 1
    self.place = place
  }

  // MARK: Strings

  private mutating func beginString(isKey: Bool, _ index: inout Int, _ output: inout TextOutput) {
    self.isKey = isKey
    begin(.string, UInt8(ascii: "\""), &index, &output)
  }

  private mutating func readString(_ text: Span<UInt8>, _ index: inout Int, _ output: inout TextOutput) {
    let start = index
    while index < text.count {
      let byte = text[index]
      if byte < 0x20 || byte >= 0x80 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
      index += 1
    }
    if index > start { output.append(text.extracting(start..<index)) }
    guard index < text.count else { return }
    let byte = text[index]
    switch byte {
    case UInt8(ascii: "\""):
      output.append(byte)
      index += 1
      if isKey { place = .colon } else { endValue(&output) }
    case UInt8(ascii: "\\"):
      index += 1
      place = .escape
    case ..<0x20: fail(at: index, found: byte, &output)
    default: beginCharacter(text, &index, &output)
    }
  }

  private mutating func readEscape(_ text: Span<UInt8>, _ index: inout Int, _ output: inout TextOutput) {
    let byte = text[index]
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"), UInt8(ascii: "u"):
      output.append(UInt8(ascii: "\\"))
      output.append(byte)
      index += 1
      place = byte == UInt8(ascii: "u") ? .hexadecimal(4) : .string
    default: fail(at: index, found: byte, &output)
    }
  }

  private mutating func readHexadecimal(
    _ left: Int, _ text: Span<UInt8>, _ index: inout Int, _ output: inout TextOutput
  ) {
    let byte = text[index]
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
      UInt8(ascii: "A")...UInt8(ascii: "F"):
      output.append(byte)
      index += 1
      place = left > 1 ? .hexadecimal(left - 1) : .string
    default: fail(at: index, found: byte, &output)
    }
  }

  /// Begins a character, whose bytes are written together after they are validated.
  private mutating func beginCharacter(_ text: Span<UInt8>, _ index: inout Int, _ output: inout TextOutput) {
    let byte = text[index]
    let length = UTF8Sequence.length(startingWith: byte)
    guard length > 1 else {
      place = .character(1, 0...0)
      return fail(at: index, found: byte, &output)
    }
    held = [byte]
    index += 1
    place = .character(length - 1, UTF8Sequence.second(behind: byte))
  }

  private mutating func readCharacter(
    _ left: Int, _ range: ClosedRange<UInt8>, _ text: Span<UInt8>, _ index: inout Int, _ output: inout TextOutput
  ) {
    let byte = text[index]
    guard range.contains(byte) else { return fail(at: index, found: byte, &output) }
    held.append(byte)
    index += 1
    place = left > 1 ? .character(left - 1, 0x80...0xbf) : .string
    if left == 1 {
      // A terminal would execute these control characters. An escape denotes the same character.
      if held[0] == 0xc2, held[1] < 0xa0 { held = Array("\\u00\(String(held[1], radix: 16))".utf8) }
      output.append(held.span)
      held = []
    }
  }
}
