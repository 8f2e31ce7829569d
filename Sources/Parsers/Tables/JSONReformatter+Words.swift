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
