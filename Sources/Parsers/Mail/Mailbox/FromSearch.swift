/// Finds lines that start with `From `, at memory bandwidth.
enum FromSearch {
  /// Returns the start of the next such line whose five bytes are all present. A line starts after LF or CR, and at 0
  /// if the source does.
  static func next(_ bytes: Span<UInt8>, from start: Int, isSourceStart: Bool) -> Int? {
    var index = start
    while let found = pair(bytes, from: index) {
      if bytes.matches("From ", at: found) {
        if found == 0 ? isSourceStart : bytes[found - 1] == 0x0a || bytes[found - 1] == 0x0d { return found }
      }
      index = found + 1
    }
    return nil
  }

  /// Returns the next `Fr`, two bytes that are rarely adjacent, in text and in base64. The caller checks the rest.
  private static func pair(_ bytes: Span<UInt8>, from start: Int) -> Int? {
    guard start >= 0, start < bytes.count else { return nil }
    return unsafe bytes.withUnsafeBytes { buffer in
      let first = SIMD16<UInt8>(repeating: 0x46)
      let second = SIMD16<UInt8>(repeating: 0x72)
      let last = buffer.count - 1
      var index = start
      while index < last {
        // All loads end at index + 64, within the buffer.
        while index + 64 < buffer.count {
          let any =
            unsafe Self.mask(buffer, index, first, second) .| Self.mask(buffer, index + 16, first, second)
            .| Self.mask(buffer, index + 32, first, second) .| Self.mask(buffer, index + 48, first, second)
          let words = unsafe unsafeBitCast(any, to: SIMD2<UInt64>.self)
          if words[0] | words[1] != 0 { break }
          index += 64
        }
        let end = min(index + 64, last)
        while index < end {
          if unsafe buffer[index] == 0x46, unsafe buffer[index + 1] == 0x72 { return index }
          index += 1
        }
      }
      return nil
    }
  }

  /// Returns which of the sixteen offsets from `index` on have `first` followed by `second`.
  @inline(__always)
  private static func mask(
    _ buffer: UnsafeRawBufferPointer, _ index: Int, _ first: SIMD16<UInt8>, _ second: SIMD16<UInt8>
  ) -> SIMDMask<SIMD16<Int8>> {
    unsafe (buffer.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self) .== first)
      .& (buffer.loadUnaligned(fromByteOffset: index + 1, as: SIMD16<UInt8>.self) .== second)
  }
}
