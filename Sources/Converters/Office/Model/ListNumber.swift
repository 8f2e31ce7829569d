/// The format of a list item's number.
enum ListNumber {
  case decimal, twoDigits, lowerLetter, upperLetter, lowerRoman, upperRoman

  func text(_ number: Int) -> String {
    switch self {
    case .decimal: String(number)
    case .twoDigits: number < 10 && number >= 0 ? "0\(number)" : String(number)
    case .lowerLetter: Self.letters(number)
    case .upperLetter: Self.letters(number).uppercased()
    case .lowerRoman: Self.roman(number)
    case .upperRoman: Self.roman(number).uppercased()
    }
  }

  /// Returns a number in letters. z is followed by aa, bb …, as in word processors.
  private static func letters(_ number: Int) -> String {
    guard number > 0, number <= 26 * 20 else { return String(number) }
    let letter = Character(UnicodeScalar(UInt8(97 + (number - 1) % 26)))
    return String(repeating: letter, count: (number - 1) / 26 + 1)
  }

  private static func roman(_ number: Int) -> String {
    guard number > 0, number < 4000 else { return String(number) }
    var (rest, text) = (number, "")
    for (value, sign) in steps {
      while rest >= value {
        text += sign
        rest -= value
      }
    }
    return text
  }

  private static let steps = [
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"),
    (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
  ]
}
