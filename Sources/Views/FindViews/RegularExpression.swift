internal import Bytes
internal import Glibc
internal import Locks

/// A POSIX extended regular expression, matched line by line regardless of case.
///
/// Validates untrusted input: the memory of an expression grows with the product of its intervals, and the time of a
/// match with its back references. Both are bounded, as is the length of the lines that are examined.
@safe final class RegularExpression: @unchecked Sendable {
  private var compiled = unsafe regex_t()
  /// Held while the expression is used: regexec(3) changes it.
  private let lock = UnfairLock(())

  /// The maximum length of an expression, in bytes.
  private static let longest = 500
  /// The maximum number of copies that the intervals of an expression make of its parts.
  private static let mostCopies = 255
  /// The maximum length of a line that is matched as a whole, in bytes. Longer ones are divided.
  private static let longestLine = 16 << 10

  /// Throws an unsupported fault with the mistake.
  init(_ text: String) throws(Fault) {
    if let mistake = Self.mistake(in: Array(text.utf8)) { throw Fault(.unsupported, mistake) }
    let status = unsafe regcomp(&compiled, text, REG_EXTENDED | REG_ICASE | REG_NEWLINE)
    guard status == 0 else {
      var message = [CChar](repeating: 0, count: 200)
      _ = unsafe regerror(status, &compiled, &message, message.count)
      let reason = String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      throw Fault(.unsupported, "the regular expression '\(text)' is invalid: \(reason)")
    }
  }

  deinit { unsafe regfree(&compiled) }

  /// Returns the sentence that refuses an expression whose evaluation could take too much memory or time. Returns `nil`
  /// for others.
  private static func mistake(in text: [UInt8]) -> String? {
    if text.count > longest { return "the regular expression has more than \(longest) bytes" }
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
      let limit = min(text.count, start + Self.longestLine)
      let end = text[start..<limit].firstIndex(of: 0x0a) ?? limit
      if let found = firstMatch(inLine: text[start..<end]) {
        return start + found.lowerBound..<start + found.upperBound
      }
      start = end < text.count && text[end] != 0x0a ? end : end + 1
    }
    return nil
  }

  private func firstMatch(inLine line: ArraySlice<UInt8>) -> Range<Int>? {
    // A text ends at its first NUL.
    var bytes = line.map { CChar(bitPattern: $0 == 0 ? 0x20 : $0) }
    bytes.append(0)
    var match = regmatch_t()
    let status = lock.withLock { _ in unsafe regexec(&compiled, bytes, 1, &match, 0) }
    guard status == 0, match.rm_so >= 0, match.rm_eo >= match.rm_so, Int(match.rm_eo) <= line.count else { return nil }
    return Int(match.rm_so)..<Int(match.rm_eo)
  }
}
