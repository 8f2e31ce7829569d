internal import Bytes

/// Decodes the output of compress(1): LZW with codes of 9 to 16 bits.
@safe final class CompressDecoder: StreamDecoder {
  private var largestWidth = 0
  private var isBlockMode = false
  private var width = 9
  /// The bits that are read but not used, and the number of codes used from a group of eight. Groups are padded when
  /// the width changes.
  private var bits: UInt64 = 0
  private var bitCount = 0
  private var groupPlace = 0
  private var toSkip = 0
  private var prefix: [UInt16] = []
  private var suffix: [UInt8] = []
  private var next = 0
  private var previous: Int?
  private var first: UInt8 = 0
  /// The decoded bytes that have not been returned, the last byte first.
  private var stack: [UInt8] = []

  private static let clear = 256
  private static let headerSize = 3

  func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) throws(Fault) -> StreamProgress {
    var progress = StreamProgress()
    if largestWidth == 0 {
      guard input.count >= Self.headerSize else { return progress }
      try start(unsafe input[2])
      progress.consumed = Self.headerSize
    }
    while progress.produced < output.count {
      if let byte = stack.popLast() {
        unsafe output[progress.produced] = byte
        progress.produced += 1
        continue
      }
      while toSkip > 0, progress.consumed < input.count {
        progress.consumed += 1
        toSkip -= 1
      }
      while bitCount < width, progress.consumed < input.count {
        bits |= unsafe UInt64(input[progress.consumed]) << UInt64(bitCount)
        progress.consumed += 1
        bitCount += 8
      }
      // The stream ends with the file.
      guard bitCount >= width else {
        progress.isFinished = input.count == 0
        return progress
      }
      let code = Int(bits & ((1 << UInt64(width)) - 1))
      bits >>= UInt64(width)
      bitCount -= width
      groupPlace = (groupPlace + 1) % 8
      try take(code)
    }
    return progress
  }

  private func start(_ flags: UInt8) throws(Fault) {
    largestWidth = Int(flags & 0x1f)
    isBlockMode = flags & 0x80 != 0
    guard (9...16).contains(largestWidth) else {
      throw Fault(.unsupported, "expected codes of 9 to 16 bits, found \(largestWidth)")
    }
    prefix = Array(repeating: 0, count: 1 << largestWidth)
    suffix = (0..<1 << largestWidth).map { $0 < 256 ? UInt8($0) : 0 }
    next = isBlockMode ? 257 : 256
  }

  private func take(_ code: Int) throws(Fault) {
    if code == Self.clear, isBlockMode {
      next = 257
      previous = nil
      change(width: 9)
      return
    }
    guard let before = previous else {
      guard code < 256 else { throw Fault(.damaged, "expected compress data") }
      (first, previous) = (UInt8(code), code)
      stack.append(first)
      return
    }
    guard code <= next, code < 1 << largestWidth else { throw Fault(.damaged, "expected compress data") }
    var place = code
    if code == next {
      // The code that is being defined: the previous string, followed by its first byte.
      stack.append(first)
      place = before
    }
    while place >= 256 {
      stack.append(suffix[place])
      place = Int(prefix[place])
    }
    first = UInt8(place)
    stack.append(first)
    if next < 1 << largestWidth {
      prefix[next] = UInt16(before)
      suffix[next] = first
      next += 1
      if next == 1 << width, width < largestWidth { change(width: width + 1) }
    }
    previous = code
  }

  /// Changes the code width and skips the rest of the group. Codes come in groups of eight; a group has as many bytes
  /// as a code has bits.
  private func change(width wider: Int) {
    if groupPlace > 0 {
      let unused = (8 - groupPlace) * width
      let dropped = min(bitCount, unused)
      bits >>= UInt64(dropped)
      bitCount -= dropped
      toSkip = (unused - dropped) / 8
    }
    (width, groupPlace) = (wider, 0)
  }
}
