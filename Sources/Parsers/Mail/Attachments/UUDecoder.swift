/// Decodes the lines between `begin` and `end` of uuencode (POSIX).
///
/// A line that has lost trailing spaces is padded. Characters beyond its declared length are ignored. The first line of
/// length zero, or a line without an end within 256 bytes, ends the data.
public struct UUDecoder: TransferDecoder {
  public static var number: UInt64 { 4 }
  /// A line of two bytes can stand for 63, the rest being spaces that were lost.
  public static var growth: Int { 32 }
  private static let longestLine = 256

  private var isDone = false

  public init() {}

  /// Returns the number of bytes that a line encodes. Returns `nil` if it cannot be a line of uuencode.
  ///
  /// Some programs append one or two characters, a checksum or padding. Trailing spaces may have been lost. The first
  /// line of a file, which distinguishes it from prose, must have half of its characters.
  static func length(of line: Slice<UnsafeRawBufferPointer>, isFirst: Bool) -> Int? {
    guard let first = unsafe line.first, (0x20...0x60).contains(first) else { return nil }
    let length = Int(first - 0x20) & 63
    let needed = (length + 2) / 3 * 4
    // A full line of zeros may have lost all its characters.
    let isLikely = unsafe !isFirst || line.count - 1 >= needed / 2 || length == 45 && line.count == 1
    guard isLikely, unsafe line.count <= needed + 3 else { return nil }
    return unsafe line.allSatisfy { (0x20...0x60).contains($0) } ? length : nil
  }

  public mutating func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, isLast: Bool
  ) -> (used: Int, made: Int) {
    precondition(output.count >= Self.growth * input.count + 16)
    var from = 0
    var to = 0
    while from < input.count, !isDone {
      let limit = min(input.count, from + Self.longestLine)
      var next = limit
      if let newline = unsafe input.firstIndex(of: 0x0a, in: from..<limit) {
        next = newline + 1
      } else if limit < input.count || limit - from == Self.longestLine {
        isDone = true
        break
      } else if !isLast {
        return (from, to)
      }
      var end = next
      while end > from, unsafe input[end - 1] == 0x0a || input[end - 1] == 0x0d { end -= 1 }
      unsafe line(input, from..<end, into: output, &to)
      from = next
    }
    return (isDone ? input.count : from, to)
  }

  private mutating func line(
    _ input: UnsafeRawBufferPointer, _ line: Range<Int>, into output: UnsafeMutableRawBufferPointer, _ to: inout Int
  ) {
    guard !line.isEmpty else { return }
    let length = unsafe Int(input[line.lowerBound] &- 0x20) & 63
    if length == 0 {
      // A longer line is damaged, and its length unknown.
      isDone = line.count <= 4
      return
    }
    var from = line.lowerBound + 1
    var left = length
    while left > 0 {
      var group: UInt32 = 0
      for _ in 0..<4 {
        let six = from < line.upperBound ? unsafe (input[from] &- 0x20) & 63 : 0
        group = group << 6 | UInt32(six)
        from += 1
      }
      for place in 0..<min(3, left) {
        unsafe output[to] = UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * place))
        to += 1
      }
      left -= 3
    }
  }
}
