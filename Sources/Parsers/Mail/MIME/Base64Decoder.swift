internal import Bytes

/// Decodes base64 (RFC 2045 §6.8).
///
/// Characters outside the alphabet are skipped, as the RFC requires. Padding ends the data, unless a run of whole
/// groups of four and a line end follow: some programs encode in pieces, each with its own padding. (Python's `email`
/// and others stop at the first padding and lose the rest; others continue into the footer that a mailing list
/// appended.) Missing padding is tolerated. A single leftover character is dropped.
public struct Base64Decoder: TransferDecoder {
  public static var number: UInt64 { 1 }

  /// The group's value so far, six bits per character.
  private var bits: UInt32 = 0
  /// The number of characters in the group: 0 to 3.
  private var held = 0
  private var state = State.data

  private enum State {
    case data, behindPadding, done
  }

  public init() {}

  /// Four tables of 256, for the four characters of a group: the shifted value, or `invalid`. Thread-safe: initialized
  /// once, never modified or freed.
  nonisolated(unsafe) private static let tables: UnsafePointer<UInt32> = {
    let tables = UnsafeMutablePointer<UInt32>.allocate(capacity: 1024)
    unsafe tables.initialize(repeating: invalid, count: 1024)
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    for (value, character) in alphabet.enumerated() {
      for place in 0..<4 { unsafe tables[place * 256 + Int(character)] = UInt32(value) << UInt32(18 - 6 * place) }
    }
    return unsafe UnsafePointer(tables)
  }()
  private static var invalid: UInt32 { 0xFF00_0000 }

  public mutating func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, isLast: Bool
  ) -> (used: Int, made: Int) {
    let tables = unsafe Self.tables
    var from = 0
    var to = 0
    let count = input.count
    precondition(output.count >= count + 16)
    while from < count {
      // Eight characters at a time. Stores eight bytes for six; the output has the space.
      while held == 0, state == .data, from + 8 <= count {
        let word = unsafe input.loadUnaligned(fromByteOffset: from, as: UInt64.self)
        let one = unsafe Self.group(UInt32(truncatingIfNeeded: UInt64(littleEndian: word)), tables)
        let other = unsafe Self.group(UInt32(truncatingIfNeeded: UInt64(littleEndian: word) >> 32), tables)
        guard (one | other) >> 24 == 0 else { break }
        let six = UInt64(one) << 40 | UInt64(other) << 16
        unsafe output.storeBytes(of: six.bigEndian, toByteOffset: to, as: UInt64.self)
        from += 8
        to += 6
      }
      guard from < count, state != .done else { break }
      if state == .behindPadding, unsafe !Self.isSpace(input[from]) {
        guard let goesOn = unsafe Self.goesOn(input, from, isLast: isLast) else { return (from, to) }
        state = goesOn ? .data : .done
        continue
      }
      let character = unsafe input[from]
      from += 1
      let value = unsafe tables[768 + Int(character)]
      if value != Self.invalid {
        bits = bits << 6 | value
        held += 1
        if held == 4 { unsafe flush(into: output, &to) }
      } else if character == 0x3d, held >= 2 {
        unsafe flush(into: output, &to)
        state = .behindPadding
      }
    }
    if isLast { unsafe flush(into: output, &to) }
    return (count, to)
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte <= 0x20 || byte == 0x3d }

  /// Returns whether the bytes from `start`, after padding, are base64 again. Returns `nil` if more input is needed.
  private static func goesOn(_ input: UnsafeRawBufferPointer, _ start: Int, isLast: Bool) -> Bool? {
    let longestRun = 1024
    var end = start
    while end < input.count, end - start < longestRun, unsafe tables[768 + Int(input[end])] != invalid { end += 1 }
    if end - start == longestRun { return true }
    var padding = 0
    while end + padding < input.count, padding < 2, unsafe input[end + padding] == 0x3d { padding += 1 }
    guard end + padding < input.count else {
      return isLast ? (end + padding - start) % 4 == 0 : nil
    }
    let isLineEnd = unsafe input[end + padding] == 0x0a || input[end + padding] == 0x0d
    return isLineEnd && (end + padding - start) % 4 == 0
  }

  @inline(__always)
  private static func group(_ four: UInt32, _ tables: UnsafePointer<UInt32>) -> UInt32 {
    unsafe tables[Int(four & 0xff)] | tables[256 + Int(four >> 8 & 0xff)] | tables[512 + Int(four >> 16 & 0xff)]
      | tables[768 + Int(four >> 24)]
  }

  /// Writes the bytes of the incomplete group and starts another.
  private mutating func flush(into output: UnsafeMutableRawBufferPointer, _ to: inout Int) {
    let group = bits << UInt32(6 * (4 - held))
    for place in 0..<max(0, held - 1) {
      unsafe output[to] = UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * place))
      to += 1
    }
    bits = 0
    held = 0
  }
}

extension Base64Decoder {
  /// The maximum length of a last line that is examined, in bytes.
  private static let longestLine: Int64 = 4096

  /// Returns the damage of base64 that ends within a group of four characters. Returns `nil` if there is none. Reads the
  /// last line of `range`; all other lines have whole groups. Blocks.
  static func damage(atEndOf source: any ByteSource, _ range: Range<Int64>) throws(Fault) -> Fault? {
    let start = max(range.lowerBound, range.upperBound - longestLine)
    var line = try source.bytes(at: start, count: Int(range.upperBound - start), .blocking)[...]
    while let last = line.last, last <= 0x20 { line.removeLast() }
    let end = start + Int64(line.count)
    if let lineEnd = line.lastIndex(where: { $0 == 0x0a || $0 == 0x0d }) {
      line = line[(lineEnd + 1)...]
    } else if start > range.lowerBound {
      return nil
    }
    guard line.count % 4 != 0, line.allSatisfy({ unsafe tables[768 + Int($0)] != invalid }) else { return nil }
    return Fault(.damaged, "expected four characters of base64, found the end of the mail", atByte: end)
  }
}
