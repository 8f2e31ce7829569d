internal import Bytes
internal import Glibc
internal import Synchronization

/// A POSIX extended regular expression, matched line by line regardless of case.
@safe final class RegularExpression: @unchecked Sendable {
  private var compiled = unsafe regex_t()
  /// Held while the expression is used: regexec(3) changes it.
  private let lock = Mutex(())

  /// The maximum length of an expression, in bytes.
  private static let longest = 500

  /// Throws an unsupported fault with the mistake.
  init(_ text: String) throws(Fault) {
    guard text.utf8.count <= Self.longest else {
      throw Fault(.unsupported, "the regular expression has more than \(Self.longest) bytes")
    }
    let status = unsafe regcomp(&compiled, text, REG_EXTENDED | REG_ICASE | REG_NEWLINE)
    guard status == 0 else {
      var message = [CChar](repeating: 0, count: 200)
      _ = unsafe regerror(status, &compiled, &message, message.count)
      let reason = String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      throw Fault(.unsupported, "the regular expression '\(text)' is invalid: \(reason)")
    }
  }

  deinit { unsafe regfree(&compiled) }

  func matches(_ text: [UInt8]) -> Bool { firstMatch(in: text) != nil }

  /// Returns the range of the first match in a text. Returns `nil` if there is none.
  func firstMatch(in text: [UInt8]) -> Range<Int>? {
    // A text ends at its first NUL.
    var bytes = text.map { CChar(bitPattern: $0 == 0 ? 0x20 : $0) }
    bytes.append(0)
    var match = regmatch_t()
    let status = lock.withLock { _ in unsafe regexec(&compiled, bytes, 1, &match, 0) }
    guard status == 0, match.rm_so >= 0, match.rm_eo >= match.rm_so, Int(match.rm_eo) <= text.count else { return nil }
    return Int(match.rm_so)..<Int(match.rm_eo)
  }
}
