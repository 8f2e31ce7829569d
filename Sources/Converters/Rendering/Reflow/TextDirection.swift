// poppler returns words, and the letters of each, from left to right. Here they are put in reading order.

extension [PageWord] {
  /// Whether most of the words are read from right to left.
  var areFromRight: Bool { reduce(0) { $0 + ($1.text.isFromRight ? 1 : $1.text.hasLetter ? -1 : 0) } > 0 }

  /// Returns the words of a line in reading order.
  ///
  /// - Parameter isFromRight: whether the line is read from right to left. It can contain words of the other direction.
  func inReadingOrder(isFromRight: Bool) -> [PageWord] {
    guard contains(where: \.text.isFromRight) else { return self }
    guard isFromRight else { return turnedRuns(of: \.text.isFromRight).map(\.read) }
    // The words of the other direction are reversed twice.
    return reversed().turnedRuns { !$0.text.isFromRight && $0.text.hasLetterOrDigit }.map(\.read)
  }

  /// Returns the words with each run that satisfies a predicate reversed.
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
  /// Whether the string has letters that are read from right to left, such as Hebrew and Arabic.
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
