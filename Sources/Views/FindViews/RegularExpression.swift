internal import Bytes
internal import Glibc
internal import Locks

/// A POSIX extended regular expression, matched line by line regardless of case. It matches characters of UTF-8.
///
/// Validates untrusted input: the memory of an expression grows with the product of its intervals, and the time of a
/// match with its back references. Both are bounded, as is the length of the lines that are examined.
final class RegularExpression: Sendable {
  private let plain: CompiledExpression
  /// The expression for lines that are not ASCII, which takes several times as long. `nil` without a locale for UTF-8.
  private let wide: CompiledExpression?

  /// The maximum length of an expression, in bytes.
  private static let longest = 500
  /// The maximum number of copies that the intervals of an expression make of its parts.
  private static let mostCopies = 255
  /// The maximum length of a line that is matched as a whole, in bytes. Longer ones are divided.
  private static let longestLine = 16 << 10

  /// Throws an unsupported fault with the mistake.
  init(_ text: String) throws(Fault) {
    if let mistake = Self.mistake(in: Array(text.utf8)) { throw Fault(.unsupported, mistake) }
    wide = if let locale = CharacterLocale.utf8 { try CompiledExpression(text, in: locale) } else { nil }
    // Bytes of a character would be characters of their own.
    let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
    plain = if let wide, !isASCII { wide } else { try CompiledExpression(text, in: nil) }
  }

  /// Returns the sentence that refuses an expression whose evaluation could take too much memory or time. Returns `nil`
  /// for others.
  private static func mistake(in text: [UInt8]) -> String? {
    if text.count > longest { return "the regular expression has more than \(longest) bytes" }
    if text.contains(0) { return "a regular expression cannot have a NUL" }
    var copies = 1
    var index = 0
    while index < text.count {
      let isEscaped = text[index] == UInt8(ascii: "\\")
      if isEscaped { index += 1 }
      guard index < text.count else { break }
      if isEscaped, (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(text[index]) {
        return "a regular expression cannot refer back to its groups (as \\1 does)"
      }
      if !isEscaped, text[index] == UInt8(ascii: "{") {
        // A larger count is over the limit by itself.
        var count = 0
        var most = 1
        for byte in text[(index + 1)...] {
          if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            count = min(mostCopies + 1, count * 10 + Int(byte - UInt8(ascii: "0")))
            most = max(most, count)
          } else if byte == UInt8(ascii: ",") {
            count = 0
          } else {
            break
          }
        }
        copies = min(mostCopies + 1, copies * most)
        if copies > mostCopies {
          return "the repetitions in a regular expression may be \(mostCopies) at most, multiplied with each other"
        }
      }
      index += 1
    }
    return nil
  }

  func matches(_ text: [UInt8]) -> Bool { firstMatch(in: text) != nil }

  /// Returns the range of the first match in a text. Returns `nil` if there is none.
  func firstMatch(in text: [UInt8]) -> Range<Int>? {
    var start = 0
    while start <= text.count {
      var limit = min(text.count, start + Self.longestLine)
      // Between characters, which have at most four bytes.
      for _ in 0..<3 where limit < text.count && text[limit] & 0xc0 == 0x80 { limit -= 1 }
      let end = text[start..<limit].firstIndex(of: 0x0a) ?? limit
      if let found = firstMatch(inLine: text[start..<end]) {
        return start + found.lowerBound..<start + found.upperBound
      }
      start = end < text.count && text[end] != 0x0a ? end : end + 1
    }
    return nil
  }

  private func firstMatch(inLine line: ArraySlice<UInt8>) -> Range<Int>? {
    let expression = line.contains { $0 >= 0x80 } ? wide ?? plain : plain
    return expression.firstMatch(in: line)
  }
}

/// An expression of regex(3) in one locale.
@safe private final class CompiledExpression: @unchecked Sendable {
  private var compiled = unsafe regex_t()
  /// `nil` for that of the process, in which characters are bytes.
  private let locale: CharacterLocale?
  /// Held while the expression is used: regexec(3) changes it.
  private let lock = UnfairLock(())

  init(_ text: String, in locale: CharacterLocale?) throws(Fault) {
    self.locale = locale
    let status = CharacterLocale.run(locale) { unsafe regcomp(&compiled, text, REG_EXTENDED | REG_ICASE | REG_NEWLINE) }
    guard status == 0 else {
      var message = [CChar](repeating: 0, count: 200)
      _ = unsafe regerror(status, &compiled, &message, message.count)
      let reason = String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      throw Fault(.unsupported, "the regular expression '\(text)' is invalid: \(reason)")
    }
  }

  deinit { unsafe regfree(&compiled) }

  func firstMatch(in line: ArraySlice<UInt8>) -> Range<Int>? {
    // A text ends at its first NUL.
    var bytes = line.map { CChar(bitPattern: $0 == 0 ? 0x20 : $0) }
    bytes.append(0)
    var match = regmatch_t()
    let status = lock.withLock { _ in
      CharacterLocale.run(locale) { unsafe regexec(&compiled, bytes, 1, &match, 0) }
    }
    guard status == 0, match.rm_so >= 0, match.rm_eo >= match.rm_so, Int(match.rm_eo) <= line.count else { return nil }
    return Int(match.rm_so)..<Int(match.rm_eo)
  }
}

/// A locale with the characters of UTF-8.
@safe private struct CharacterLocale: @unchecked Sendable {
  private let locale: locale_t

  /// `nil` if the system has none.
  static let utf8: CharacterLocale? = {
    for name in ["C.UTF-8", "C.utf8", "en_US.UTF-8"] {
      if let locale = unsafe newlocale(Int32(1) << LC_CTYPE, name, nil) {
        return unsafe CharacterLocale(locale: locale)
      }
    }
    return nil
  }()

  /// Calls `body` with a locale as that of this thread. `nil` leaves it as it is.
  static func run<Value>(_ locale: CharacterLocale?, _ body: () -> Value) -> Value {
    guard let locale else { return body() }
    let before = unsafe uselocale(locale.locale)
    defer { _ = unsafe uselocale(before) }
    return body()
  }
}
