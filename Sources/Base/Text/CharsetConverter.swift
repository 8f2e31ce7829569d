internal import Glibc

/// Converts text of one character set to UTF-8 with iconv. Not thread-safe.
@safe public final class CharsetConverter {
  public let name: String
  private let descriptor: iconv_t
  private let shifts: ShiftedText?

  /// ISO-2022-JP (RFC 1468) with the additions of Microsoft's cp50220: half-width katakana, and the characters of
  /// CP932.
  static let japaneseMail = "ISO-2022-JP"
  /// HZ (RFC 1843), which iconv does not support.
  static let chineseMail = "HZ"

  /// Creates a converter. Returns `nil` if iconv does not know `name`.
  public init?(_ name: String) {
    let shifts = ShiftedText(name)
    // iconv_open fails with (iconv_t) -1.
    guard let descriptor = unsafe iconv_open("UTF-8", shifts?.target ?? name), Int(bitPattern: descriptor) != -1 else {
      return nil
    }
    unsafe self.descriptor = descriptor
    self.name = name
    self.shifts = shifts
  }

  deinit { _ = unsafe iconv_close(descriptor) }

  /// Converts `text` to UTF-8. Returns `nil` if it is invalid in the character set.
  public func utf8(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    var input = plain(text).map { CChar(bitPattern: $0) }
    // Two bytes of GB18030 or one of a code page become at most three.
    var output = [CChar](repeating: 0, count: 4 * input.count + 4)
    var count = 0
    let isWhole = unsafe input.withUnsafeMutableBufferPointer { input in
      unsafe output.withUnsafeMutableBufferPointer { output in
        var from = input.baseAddress
        var to = output.baseAddress
        var left = input.count
        var room = output.count
        _ = unsafe iconv(descriptor, nil, nil, nil, nil)
        let status = unsafe iconv(descriptor, &from, &left, &to, &room)
        // A letter may be pending, waiting for a mark.
        let end = unsafe iconv(descriptor, nil, nil, &to, &room)
        count = output.count - room
        return status != -1 && end != -1 && left == 0
      }
    }
    return isWhole ? output[..<count].map { UInt8(bitPattern: $0) } : nil
  }

  /// Returns the text in the form that is passed to iconv.
  func plain(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> { shifts?.unshifted(text)[...] ?? text }

  /// Resets the conversion state.
  func reset() { _ = unsafe iconv(descriptor, nil, nil, nil, nil) }

  /// Calls iconv once.
  func step(
    _ from: inout UnsafeMutablePointer<CChar>?, _ left: inout Int, _ to: inout UnsafeMutablePointer<CChar>?,
    _ room: inout Int
  ) -> Int {
    unsafe iconv(descriptor, &from, &left, &to, &room)
  }

  /// Writes the output that is pending in the conversion state.
  func flush(_ to: inout UnsafeMutablePointer<CChar>?, _ room: inout Int) -> Int {
    unsafe iconv(descriptor, nil, nil, &to, &room)
  }
}

extension CharsetConverter {
  /// Converts a possibly damaged text to UTF-8. Each invalid byte becomes U+FFFD.
  ///
  /// Starts in the character set's initial state. O(n). Not thread-safe.
  public func repaired(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count + text.count / 2)
    reset()
    var input = Array(plain(text))
    let block = 64 << 10
    var output = [UInt8](repeating: 0, count: block)
    unsafe input.withUnsafeMutableBytes { input in
      unsafe output.withUnsafeMutableBytes { output in
        var from = unsafe input.baseAddress?.assumingMemoryBound(to: CChar.self)
        var left = input.count
        while left > 0 {
          var to = unsafe output.baseAddress?.assumingMemoryBound(to: CChar.self)
          var room = block
          let status = unsafe step(&from, &left, &to, &room)
          let code = errno
          unsafe result.append(contentsOf: output[..<(block - room)])
          guard status == -1, code != E2BIG else { continue }
          // EILSEQ, or EINVAL for a character truncated at the end.
          result += [0xEF, 0xBF, 0xBD]
          let skipped = code == EINVAL ? left : min(left, unitWidth)
          unsafe from = from?.advanced(by: skipped)
          left -= skipped
        }
        // Output that is still pending in the converter's state.
        var to = unsafe output.baseAddress?.assumingMemoryBound(to: CChar.self)
        var room = block
        _ = unsafe flush(&to, &room)
        unsafe result.append(contentsOf: output[..<(block - room)])
      }
    }
    return result
  }

  /// The smallest unit that can be skipped, in bytes.
  private var unitWidth: Int { CharsetConverter.unitWidth(name) }

  /// Returns the name of UTF-16 or UTF-32 with the byte order at the start of a text, and other names unchanged. Only the
  /// first block of a text has the mark, and iconv applies that of the first text to all that follow.
  public static func ordered(_ name: String, startingWith head: some Sequence<UInt8>) -> String {
    let width = unitWidth(name)
    let first = Array(head.prefix(2))
    guard width > 1, !name.hasSuffix("LE"), !name.hasSuffix("BE"), first.count == 2 else { return name }
    let isLittle = first == [0xff, 0xfe] || first[0] != 0 && first[1] == 0
    return (width == 2 ? "UTF-16" : "UTF-32") + (isLittle ? "LE" : "BE")
  }

  /// Returns the size of a code unit in bytes: 4 for UTF-32, 2 for UTF-16, otherwise 1. Only if it is 1, the byte 10 is
  /// a line end.
  public static func unitWidth(_ name: String) -> Int {
    if name.hasPrefix("UTF-32") || name.hasPrefix("UCS-4") || name.hasPrefix("ISO-10646-UCS-4") { return 4 }
    if name.hasPrefix("UTF-16") || name.hasPrefix("UCS-2") || name.hasPrefix("ISO-10646-UCS-2") { return 2 }
    return name == "UTF16" || name == "UNICODE" ? 2 : name == "UTF32" ? 4 : 1
  }
}
