internal import Text

/// The date at the end of a separator line, after a sender, which may contain spaces.
struct SeparatorDate {
  /// Nil if its month is in an unknown language.
  let date: MailDate?

  /// Searches for the date from the end: a time, and the words around it.
  init?(_ bytes: Span<UInt8>, _ line: Range<Int>) {
    for mark: UInt8 in [0x3a, 0x2e] {
      var colon = line.upperBound
      // A zone may contain a colon, a time two.
      for _ in 0..<4 {
        while colon > line.lowerBound, bytes[colon - 1] != mark { colon -= 1 }
        guard colon > line.lowerBound else { break }
        colon -= 1
        if let time = SeparatorDate.time(bytes, line, around: colon, mark),
          let start = SeparatorDate.start(bytes, line, time)
        {
          date = MailDate(bytes.extracting(start..<line.upperBound))
          return
        }
      }
    }
    return nil
  }

  /// Returns the time whose hour ends at `colon`: `0:00`, `00:00:00`, or `00.00.00` if `mark` is a dot.
  private static func time(_ bytes: Span<UInt8>, _ line: Range<Int>, around colon: Int, _ mark: UInt8) -> Range<Int>? {
    var start = colon
    while start > line.lowerBound, bytes[start - 1].isAsciiDigit { start -= 1 }
    var end = colon + 1
    while end < line.upperBound, bytes[end].isAsciiDigit { end += 1 }
    guard (1...2).contains(colon - start), end - colon == 3 else { return nil }
    if start > line.lowerBound, bytes[start - 1] == mark || bytes[start - 1] == 0x2b { return nil }
    if end < line.upperBound, bytes[end] == mark {
      let second = end + 1
      end = second
      while end < line.upperBound, bytes[end].isAsciiDigit { end += 1 }
      guard end - second == 2 else { return nil }
    } else if mark == 0x2e {
      // An IP address, a version, a price.
      return nil
    }
    return start..<end
  }

  /// Returns the start of the date with this time. Returns `nil` if the surrounding words are not a date.
  private static func start(_ bytes: Span<UInt8>, _ line: Range<Int>, _ time: Range<Int>) -> Int? {
    if time.lowerBound > line.lowerBound + 10, bytes[time.lowerBound - 1] == 0x54 {
      return isISO(bytes, time.lowerBound - 11..<time.lowerBound - 1) ? time.lowerBound - 11 : nil
    }
    guard let one = word(bytes, line, before: time.lowerBound) else { return nil }
    if isISO(bytes, one) { return one.lowerBound }
    if isNumeric(bytes, one) {
      // Prose has such dates, so a sender must precede.
      let sender = bytes.trimmed(line.lowerBound..<one.lowerBound)
      let isSender = sender.contains { bytes[$0] == 0x40 } || sender.count == 1 && bytes[sender.lowerBound] == 0x2d
      return isSender && tailHasYear(bytes, time.upperBound..<line.upperBound, wanted: false) ? one.lowerBound : nil
    }
    guard let two = word(bytes, line, before: one.lowerBound) else { return nil }
    if isDay(bytes, one), isName(bytes, two) {
      return tailHasYear(bytes, time.upperBound..<line.upperBound, wanted: true) ? two.lowerBound : nil
    }
    if isYear(bytes, one), isName(bytes, two), let three = word(bytes, line, before: two.lowerBound),
      isDay(bytes, three)
    {
      return tailHasYear(bytes, time.upperBound..<line.upperBound, wanted: false) ? three.lowerBound : nil
    }
    return nil
  }

  /// Returns the word before `end`, without a trailing comma.
  private static func word(_ bytes: Span<UInt8>, _ line: Range<Int>, before end: Int) -> Range<Int>? {
    var end = end
    while end > line.lowerBound, [0x20, 0x09, 0x2c].contains(bytes[end - 1]) { end -= 1 }
    var start = end
    while start > line.lowerBound, ![0x20, 0x09, 0x2c].contains(bytes[start - 1]) { start -= 1 }
    return start < end ? start..<end : nil
  }

  private static func number(_ bytes: Span<UInt8>, _ word: Range<Int>) -> Int? {
    guard word.count <= 4 else { return nil }
    var value = 0
    for index in word {
      guard bytes[index].isAsciiDigit else { return nil }
      value = value * 10 + Int(bytes[index] - 0x30)
    }
    return value
  }

  private static func isDay(_ bytes: Span<UInt8>, _ word: Range<Int>) -> Bool {
    // `1.` in other languages.
    let digits = word.count > 1 && bytes[word.upperBound - 1] == 0x2e ? word.lowerBound..<word.upperBound - 1 : word
    return digits.count <= 2 && number(bytes, digits).map { (1...31).contains($0) } ?? false
  }

  private static func isYear(_ bytes: Span<UInt8>, _ word: Range<Int>) -> Bool {
    guard let year = number(bytes, word) else { return false }
    return word.count == 2 || word.count == 4 && (1900...2999).contains(year)
  }

  /// Returns whether a word may be the name of a month, in any language.
  private static func isName(_ bytes: Span<UInt8>, _ word: Range<Int>) -> Bool {
    guard (3...14).contains(word.count) else { return false }
    for index in word {
      let byte = bytes[index]
      guard byte.isAsciiLetter || byte >= 0x80 || byte == 0x2e && index == word.upperBound - 1 else { return false }
    }
    return true
  }

  /// Returns whether a word has the form `2018-01-01`.
  private static func isISO(_ bytes: Span<UInt8>, _ word: Range<Int>) -> Bool {
    guard word.count == 10 else { return false }
    for (place, index) in word.enumerated() {
      guard place == 4 || place == 7 ? bytes[index] == 0x2d || bytes[index] == 0x2f : bytes[index].isAsciiDigit else {
        return false
      }
    }
    return true
  }

  /// Returns whether a word has the form `05/06/2024` or `6.5.2024`.
  private static func isNumeric(_ bytes: Span<UInt8>, _ word: Range<Int>) -> Bool {
    var numbers: [Int] = []
    var start = word.lowerBound
    for index in word.lowerBound...word.upperBound {
      if index < word.upperBound, bytes[index].isAsciiDigit { continue }
      guard index == word.upperBound || bytes[index] == 0x2f || bytes[index] == 0x2e, index > start,
        let value = number(bytes, start..<index), numbers.count < 3
      else { return false }
      if numbers.count == 2 { return index == word.upperBound && index - start == 4 && isYear(bytes, start..<index) }
      guard index - start <= 2, (1...31).contains(value) else { return false }
      numbers.append(value)
      start = index + 1
    }
    return false
  }

  /// Returns whether the time is followed only by zones, and a year exactly if `wanted`.
  private static func tailHasYear(_ bytes: Span<UInt8>, _ tail: Range<Int>, wanted: Bool) -> Bool {
    var index = tail.lowerBound
    var hasYear = false
    var others = 0
    while index < tail.upperBound {
      if bytes[index] == 0x20 || bytes[index] == 0x09 {
        index += 1
        continue
      }
      let start = index
      while index < tail.upperBound, bytes[index] != 0x20, bytes[index] != 0x09 { index += 1 }
      // UUCP appends `remote from host`.
      if bytes.matches("remote", at: start), hasYear == wanted { return true }
      if wanted, !hasYear, isYear(bytes, start..<index), index - start == 4 || others == 0 {
        hasYear = true
      } else {
        guard isZone(bytes, start..<index) else { return false }
        others += 1
      }
    }
    return others <= 3 && hasYear == wanted
  }

  /// Returns whether a word is a zone or the like: `+0100`, `-01:00`, `CEST`, `(UTC)`, `PM`.
  private static func isZone(_ bytes: Span<UInt8>, _ word: Range<Int>) -> Bool {
    if bytes[word.lowerBound] == 0x2b || bytes[word.lowerBound] == 0x2d {
      return (3...6).contains(word.count)
        && word.dropFirst().allSatisfy { bytes[$0].isAsciiDigit || bytes[$0] == 0x3a }
    }
    if bytes.extracting(word).equalsIgnoringCase("am") || bytes.extracting(word).equalsIgnoringCase("pm") {
      return true
    }
    let name = bytes[word.lowerBound] == 0x28 ? word.dropFirst().dropLast() : word
    return name.count <= 5 && name.allSatisfy { bytes[$0].isAsciiLetter && bytes[$0] == bytes[$0] & 0xdf }
  }
}
