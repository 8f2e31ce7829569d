internal import Glibc

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

  /// Returns the size of a code unit in bytes: 4 for UTF-32, 2 for UTF-16, otherwise 1. Only if it is 1, the byte 10 is
  /// a line end.
  public static func unitWidth(_ name: String) -> Int {
    if name.hasPrefix("UTF-32") || name.hasPrefix("UCS-4") || name.hasPrefix("ISO-10646-UCS-4") { return 4 }
    if name.hasPrefix("UTF-16") || name.hasPrefix("UCS-2") || name.hasPrefix("ISO-10646-UCS-2") { return 2 }
    return name == "UTF16" || name == "UNICODE" ? 2 : name == "UTF32" ? 4 : 1
  }
}
