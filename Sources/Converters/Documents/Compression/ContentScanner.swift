/// A scanner of a content stream. It reads, in order, only the operators that determine the images painted, their sizes,
/// and the fonts.
struct ContentScanner {
  enum Step: Equatable {
    case save
    case restore
    case transform(Matrix)
    /// The name of an external object, a graphics state or a font, with its slash.
    case paint(String)
    case state(String)
    case font(String)
  }

  /// Whether no content can have been mistaken for an inline image's samples.
  private(set) var isCertain = true

  private let bytes: [UInt8]
  private var at = 0
  /// The last operands: numbers, and the last name as a range of `bytes`.
  private var numbers = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
  private var numberCount = 0
  private var name: Range<Int>?

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Returns the next operator. Returns `nil` at the end.
  mutating func next() -> Step? {
    while at < bytes.count {
      let byte = bytes[at]
      switch byte {
      case 0, 9, 10, 12, 13, 32: at += 1
      case 0x25: skipComment()
      case 0x28: skipString()
      // Dictionaries and hexadecimal strings contain nothing relevant; arrays contain numbers, which none of these
      // operators take.
      case 0x3C: skipHex()
      case 0x29, 0x3E, 0x5B, 0x5D, 0x7B, 0x7D: at += 1
      case 0x2F: readName()
      case 0x2B, 0x2D, 0x2E, 0x30...0x39: readNumber()
      default:
        if let step = readOperator() { return step }
      }
    }
    return nil
  }

  private mutating func readOperator() -> Step? {
    let start = at
    while at < bytes.count, !Self.ends[Int(bytes[at])] { at += 1 }
    if at == start { at += 1 }
    let word = bytes[start..<at]
    defer {
      numberCount = 0
      name = nil
    }
    switch (word.count, bytes[start]) {
    case (1, 0x71): return .save
    case (1, 0x51): return .restore
    case (2, 0x63) where bytes[start + 1] == 0x6D && numberCount == 6:
      return .transform(Matrix(a: numbers.0, b: numbers.1, c: numbers.2, d: numbers.3))
    case (2, 0x44) where bytes[start + 1] == 0x6F: return name.map { .paint(PDFName.text(bytes[$0])) }
    case (2, 0x67) where bytes[start + 1] == 0x73: return name.map { .state(PDFName.text(bytes[$0])) }
    case (2, 0x54) where bytes[start + 1] == 0x66: return name.map { .font(PDFName.text(bytes[$0])) }
    case (2, 0x49) where bytes[start + 1] == 0x44: skipInlineImage()
    default: break
    }
    return nil
  }

  private mutating func readName() {
    let start = at
    at += 1
    while at < bytes.count, !Self.ends[Int(bytes[at])] { at += 1 }
    name = start..<at
  }

  private mutating func readNumber() {
    var value = 0.0
    var scale = 0.0
    var isNegative = false
    while at < bytes.count, !Self.ends[Int(bytes[at])] {
      switch bytes[at] {
      case 0x30...0x39:
        value = value * 10 + Double(bytes[at] - 0x30)
        scale *= 10
      case 0x2E: scale = 1
      case 0x2D: isNegative = true
      default: break
      }
      at += 1
    }
    if scale > 1 { value /= scale }
    numbers = (numbers.1, numbers.2, numbers.3, numbers.4, numbers.5, isNegative ? -value : value)
    numberCount += 1
  }

  private mutating func skipComment() {
    while at < bytes.count, bytes[at] != 10, bytes[at] != 13 { at += 1 }
  }

  private mutating func skipString() {
    var depth = 0
    while at < bytes.count {
      switch bytes[at] {
      case 0x5C: at += 1
      case 0x28: depth += 1
      case 0x29: depth -= 1
      default: break
      }
      at += 1
      if depth == 0 { break }
    }
  }

  private mutating func skipHex() {
    at += 1
    if at < bytes.count, bytes[at] == 0x3C {
      at += 1
      return
    }
    while at < bytes.count, bytes[at] != 0x3E { at += 1 }
  }

  /// Skips past the `EI` of an inline image. It is delimited by white space and followed by bytes that can be content.
  private mutating func skipInlineImage() {
    at += 1
    while at + 2 <= bytes.count {
      if bytes[at] == 0x45, bytes[at + 1] == 0x49, at + 2 == bytes.count || Self.ends[Int(bytes[at + 2])] {
        let isApart = Self.ends[Int(bytes[at - 1])]
        let goesOn = isContent(from: at + 2)
        if isApart, goesOn {
          at += 2
          return
        }
        // Samples look like this by chance once in millions.
        if isApart || goesOn { isCertain = false }
      }
      at += 1
    }
    at = bytes.count
    isCertain = false
  }

  /// Returns whether the following bytes look like content. All of them are text, or the first word is an operator or
  /// starts a string, which may contain any bytes.
  private func isContent(from start: Int) -> Bool {
    let next = bytes[start...].prefix(16)
    if next.allSatisfy({ $0 < 0x7F && ($0 >= 32 || (9...13).contains($0)) }) { return true }
    let rest = next.drop { $0 == 32 || (9...13).contains($0) || $0 == 0 }
    guard let first = rest.first, !Self.ends[Int(first)] else { return true }
    return Self.operators.contains(String(decoding: rest.prefix { !Self.ends[Int($0)] }, as: UTF8.self))
  }

  private static let operators: Set<String> = [
    "q", "Q", "cm", "w", "J", "j", "M", "d", "ri", "i", "gs", "m", "l", "c", "v", "y", "h", "re", "S", "s", "f", "F",
    "f*", "B", "B*", "b", "b*", "n", "W", "W*", "BT", "ET", "Do", "sh", "BI", "BX", "EX", "EMC", "BMC", "BDC", "MP",
    "DP",
    "g", "G", "rg", "RG", "k", "K", "cs", "CS", "sc", "SC", "scn", "SCN",
  ]

  /// The bytes that end a word: white space and delimiters.
  private static let ends: [Bool] = (0..<256).map { byte in
    [0, 9, 10, 12, 13, 32, 0x25, 0x28, 0x29, 0x2F, 0x3C, 0x3E, 0x5B, 0x5D, 0x7B, 0x7D].contains(byte)
  }
}

enum PDFName {
  /// Returns a name with `#xx` escapes decoded, as libqpdf returns it.
  static func text(_ bytes: ArraySlice<UInt8>) -> String {
    guard bytes.contains(0x23) else { return String(decoding: bytes, as: UTF8.self) }
    var text: [UInt8] = []
    var rest = bytes
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2)
      if byte == 0x23, digits.count == 2,
        let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16), value != 0
      {
        text.append(value)
        rest = rest.dropFirst(2)
      } else {
        text.append(byte)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }
}
