// poppler has words, and the letters of each, as they stand from left to right. Here they get the order in which they
// are read.

extension [PageWord] {
  /// Whether more of them are read from right to left.
  var areFromRight: Bool { reduce(0) { $0 + ($1.text.isFromRight ? 1 : $1.text.hasLetter ? -1 : 0) } > 0 }

  /// Words of a line as they are read.
  ///
  /// - Parameter isFromRight: whether the line is, in which words of the other direction stand.
  func inReadingOrder(isFromRight: Bool) -> [PageWord] {
    guard contains(where: \.text.isFromRight) else { return self }
    guard isFromRight else { return turnedRuns(of: \.text.isFromRight).map(\.read) }
    // The words of the other direction are turned twice.
    return reversed().turnedRuns { !$0.text.isFromRight && $0.text.hasLetterOrDigit }.map(\.read)
  }

  /// With each row of words that are so in the opposite order.
  private func turnedRuns(of isSo: (PageWord) -> Bool) -> [PageWord] {
    var (result, run): ([PageWord], [PageWord]) = ([], [])
    for word in self {
      if isSo(word) {
        run.append(word)
      } else {
        result += run.reversed() + [word]
        run = []
      }
    }
    return result + run.reversed()
  }
}

extension PageWord {
  fileprivate var read: PageWord {
    guard text.isFromRight else { return self }
    var (result, run): ([Character], [Character]) = ([], [])
    for character in text.reversed() {
      if !String(character).isFromRight, character.isLetter || character.isNumber {
        run.append(character)
      } else {
        result += run.reversed() + [character]
        run = []
      }
    }
    return PageWord(
      text: String(result + run.reversed()), box: box, size: size, rotation: rotation, hasSpaceAfter: hasSpaceAfter)
  }
}

extension String {
  /// Whether it has letters that are read from right to left: Hebrew, Arabic and their kin.
  fileprivate var isFromRight: Bool {
    unicodeScalars.contains { scalar in
      switch scalar.value {
      case 0x590...0x8ff, 0xfb1d...0xfdff, 0xfe70...0xfefc, 0x10800...0x10fff, 0x1e800...0x1efff:
        scalar.properties.numericType == nil
      default: false
      }
    }
  }

  fileprivate var hasLetter: Bool { contains(where: \.isLetter) }
  fileprivate var hasLetterOrDigit: Bool { contains { $0.isLetter || $0.isNumber } }
}
