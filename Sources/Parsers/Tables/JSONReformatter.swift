/// An incremental formatter that indents JSON (RFC 8259), with one line per value if there are several.
///
/// Strings and numbers are unchanged. At the first fault, the text ends with a line that states the position and the
/// expected token. With one value per line, it continues with the next line. O(n); one bit of memory per nesting level.
struct JSONReformatter: PieceRewriting {
  /// The parser state, which determines the valid next bytes.
  enum Place {
    case value, firstItem, firstKey, key, colon, behindValue
    /// After a top-level number or literal, which another one must not follow directly.
    case behindWord
    case string, escape
    case hexadecimal(Int)
    case number(Number)
    case literal(StaticString, Int)
    /// Within a character: the number of remaining bytes, and the range of the next.
    case character(Int, ClosedRange<UInt8>)
    /// After a fault: skips to the end of the line.
    case skipping
  }

  /// The state within a number.
  enum Number {
    case sign, zero, digits, point, fraction, exponent, exponentSign, power
  }

  var place = Place.value
  var stack = NestingStack()
  /// Whether the current string is a key.
  var isKey = false
  /// Whether a value has begun since the last line end of the output.
  private var isLineOpen = false
  private var hasValue = false
  /// The line number in the text, from 1.
  private(set) var line = 1
  /// The number of bytes before this piece, and the offset of the current line.
  private var base: Int64 = 0
  private var lineStart: Int64 = 0
  /// The number of bytes of a byte order mark that have been read.
  private var marked: Int64 = 0
  private(set) var isFinished = false

  /// The decoder. Nil if the bytes are parsed without conversion.
  private var decoder: TextDecoder?
  /// Whether each line contains one value.
  let isLineBound: Bool
  /// The bytes of an incomplete character.
  var held: [UInt8] = []

  /// The maximum level that is indented further.
  private static let deepestIndent = 32

  init(_ encoding: TableEncoding, isLineBound: Bool) {
    self.isLineBound = isLineBound
    if encoding.unit > 1 { decoder = TextDecoder(encoding) }
  }

  mutating func rewrite(_ piece: [UInt8], isLast: Bool, _ converters: inout TextDecoder.Converters) -> [UInt8] {
    let text = decoder?.decode(piece, isLast: isLast, &converters) ?? piece
    var output = TextOutput(capacity: 3 * text.count)
    var index = 0
    let span = text.span
    while index < span.count, !isFinished {
      if isMark(span[index], at: base + Int64(index)) {
        index += 1
      } else if hasPartOfMark {
        failAtMark(&output)
      } else {
        step(span, &index, &output)
      }
    }
    base += Int64(text.count)
    if isLast, !isFinished { finish(&output) }
    return output.bytes
  }

  private mutating func finish(_ output: inout TextOutput) {
    defer { isFinished = true }
    if hasPartOfMark { return failAtMark(&output) }
    if case .number(let number) = place, number.isComplete { endValue(&output) }
    let isComplete =
      switch place {
      case .value, .behindWord, .skipping: stack.depth == 0
      default: false
      }
    if !isComplete || !(hasValue || isLineBound) { fail(at: 0, found: nil, &output) }
  }

  /// Returns whether a byte belongs to a byte order mark, which is ignored.
  @inline(__always)
  private mutating func isMark(_ byte: UInt8, at offset: Int64) -> Bool {
    guard offset < 3, offset == marked, byte == ([0xef, 0xbb, 0xbf] as [UInt8])[Int(offset)] else { return false }
    marked += 1
    return true
  }

  private var hasPartOfMark: Bool { marked == 1 || marked == 2 }

  /// Reports an incomplete byte order mark.
  private mutating func failAtMark(_ output: inout TextOutput) {
    marked = 0
    fail(at: -Int(base), found: 0xef, &output)
  }

  // MARK: Writing

  mutating func breakLine(_ output: inout TextOutput) {
    output.append(0x0a)
    output.append(0x20, times: 2 * min(stack.depth, Self.deepestIndent))
  }

  mutating func beginValue() {
    isLineOpen = true
    hasValue = true
  }

  /// Ends a value. A top-level value ends its line.
  mutating func endValue(isWord: Bool = false, _ output: inout TextOutput) {
    if stack.depth > 0 {
      place = .behindValue
    } else {
      output.append(0x0a)
      isLineOpen = false
      place = isWord ? .behindWord : .value
    }
  }

  mutating func noteLine(endingAt index: Int) {
    line += 1
    lineStart = base + Int64(index) + 1
  }

  // MARK: Faults

  /// Ends the text, or its current line, with a message about the fault at `index` of the piece.
  mutating func fail(at index: Int, found byte: UInt8?, _ output: inout TextOutput, _ reason: String? = nil) {
    if isLineOpen { output.append(0x0a) }
    isLineOpen = false
    let offset = base + Int64(index)
    // An offset in converted text is not an offset in the file.
    let place = decoder == nil ? "byte \(offset)" : "byte \(offset - lineStart) of it in UTF-8"
    let found = byte.map(Self.described) ?? "the end of the file"
    let fault = reason ?? "expected \(expected), found \(found)"
    output.append("[not JSON from line \(line), \(place) on: \(fault)]\n")
    if isLineBound {
      stack = NestingStack()
      self.place = .skipping
    } else {
      isFinished = true
    }
  }

  private static func described(_ byte: UInt8) -> String {
    switch byte {
    case 0x0a: "a line end"
    case 0x21...0x7e: "'\(Character(Unicode.Scalar(byte)))'"
    default: "the byte 0x\(byte < 16 ? "0" : "")\(String(byte, radix: 16))"
    }
  }

  private var expected: String {
    switch place {
    case .value: "a value"
    case .firstItem: "a value or ']'"
    case .firstKey: "a key or '}'"
    case .key: "a key"
    case .colon: "':'"
    case .behindValue: stack.isObject ? "',' or '}'" : "',' or ']'"
    case .behindWord: "white space"
    case .string: "the string's end"
    case .escape: "one of \"\\/bfnrtu after the backslash"
    case .hexadecimal: "four hexadecimal digits"
    case .number: "a digit"
    case .literal(let word, _): "\(word)"
    case .character: "UTF-8"
    case .skipping: "a line end"
    }
  }
}

// Numbers and literals.
extension JSONReformatter {
  /// Returns whether a number or a literal can start with this byte.
  static func startsWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "t"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "N"), UInt8(ascii: "I"):
      true
    default: false
    }
  }

  /// Ends a literal that is followed by white space.
  mutating func endWord() {
    if case .behindWord = place { place = .value }
  }

  mutating func readNumber(
    _ number: Number, _ text: Span<UInt8>, _ index: inout Int, _ output: inout TextOutput
  ) {
    var number = number
    while index < text.count {
      let byte = text[index]
      if number == .sign, byte == UInt8(ascii: "I") {
        place = .literal("Infinity", 0)
        return readLiteral("Infinity", 0, text, &index, &output)
      }
      guard let next = number.next(byte) else {
        place = .number(number)
        return number.isComplete ? endValue(isWord: true, &output) : fail(at: index, found: byte, &output)
      }
      number = next
      output.append(byte)
      index += 1
    }
    place = .number(number)
  }

  mutating func readLiteral(
    _ word: StaticString, _ count: Int, _ text: Span<UInt8>, _ index: inout Int, _ output: inout TextOutput
  ) {
    let byte = text[index]
    guard unsafe byte == word.utf8Start[count] else { return fail(at: index, found: byte, &output) }
    output.append(byte)
    index += 1
    if count + 1 == word.utf8CodeUnitCount {
      endValue(isWord: true, &output)
    } else {
      place = .literal(word, count + 1)
    }
  }
}

extension JSONReformatter.Number {
  /// Whether the number can end in this state.
  var isComplete: Bool {
    switch self {
    case .zero, .digits, .fraction, .power: true
    case .sign, .point, .exponent, .exponentSign: false
    }
  }

  /// Returns the next state. Returns `nil` if the byte cannot continue the number.
  fileprivate func next(_ byte: UInt8) -> JSONReformatter.Number? {
    switch (self, byte) {
    case (.sign, UInt8(ascii: "0")): .zero
    case (.sign, UInt8(ascii: "1")...UInt8(ascii: "9")): .digits
    case (.digits, UInt8(ascii: "0")...UInt8(ascii: "9")): .digits
    case (.zero, UInt8(ascii: ".")), (.digits, UInt8(ascii: ".")): .point
    case (.point, UInt8(ascii: "0")...UInt8(ascii: "9")), (.fraction, UInt8(ascii: "0")...UInt8(ascii: "9")): .fraction
    case (.zero, UInt8(ascii: "e")), (.digits, UInt8(ascii: "e")), (.fraction, UInt8(ascii: "e")),
      (.zero, UInt8(ascii: "E")), (.digits, UInt8(ascii: "E")), (.fraction, UInt8(ascii: "E")):
      .exponent
    case (.exponent, UInt8(ascii: "+")), (.exponent, UInt8(ascii: "-")): .exponentSign
    case (.exponent, UInt8(ascii: "0")...UInt8(ascii: "9")), (.exponentSign, UInt8(ascii: "0")...UInt8(ascii: "9")),
      (.power, UInt8(ascii: "0")...UInt8(ascii: "9")):
      .power
    default: nil
    }
  }
}
