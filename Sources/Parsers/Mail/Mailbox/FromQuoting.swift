internal import Glibc

/// The quoting of `From ` lines in mailboxes (mboxrd): a line that resembles a separator is prefixed with `>`.
enum FromQuoting {
  /// The maximum number of `>` that is treated as quoting.
  static let longestRun = 64
  private static let word = Array("From ".utf8)

  /// Returns whether a line is quoted. Returns `nil` if more input is needed.
  static func isQuoted(_ line: Slice<UnsafeRawBufferPointer>, isLast: Bool) -> Bool? {
    var index = unsafe line.startIndex
    while unsafe index < line.endIndex, unsafe line[index] == 0x3e, unsafe index - line.startIndex < longestRun {
      index += 1
    }
    guard unsafe index > line.startIndex else { return unsafe line.isEmpty && !isLast ? nil : false }
    for byte in word {
      guard unsafe index < line.endIndex else { return isLast ? false : nil }
      guard unsafe line[index] == byte else { return false }
      index += 1
    }
    return true
  }
}

/// Removes the quoting of mailboxes: one `>` from each line `>From `, `>>From ` … The first line end tells whether lines
/// end in CR alone.
public struct UnquotingDecoder: TransferDecoder {
  public static var number: UInt64 { 2 }

  private var isAtLineStart = true
  /// The last byte of each line. `nil` before the first line end.
  private var lineEnd: UInt8?

  public init() {}

  public mutating func decode(
    _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer, isLast: Bool
  ) -> (used: Int, made: Int) {
    precondition(output.count >= input.count)
    var copied = 0
    var from = 0
    var to = 0
    func copy(upTo end: Int) {
      guard end > copied else { return }
      let part = unsafe UnsafeRawBufferPointer(rebasing: input[copied..<end])
      unsafe UnsafeMutableRawBufferPointer(rebasing: output[to...]).copyMemory(from: part)
      to += end - copied
      copied = end
    }
    while from < input.count {
      if isAtLineStart, unsafe input[from] == 0x3e {
        guard let isQuoted = unsafe FromQuoting.isQuoted(input[from...], isLast: isLast) else {
          copy(upTo: from)
          return (from, to)
        }
        if isQuoted {
          copy(upTo: from)
          copied = from + 1
        }
      }
      if lineEnd == nil {
        guard unsafe findLineEnd(in: input, from: from, isLast: isLast) else {
          copy(upTo: input.count - 1)
          return (input.count - 1, to)
        }
      }
      guard let newline = unsafe input.firstIndex(of: lineEnd ?? 0x0a, from: from) else {
        isAtLineStart = false
        break
      }
      isAtLineStart = true
      from = newline + 1
    }
    copy(upTo: input.count)
    return (input.count, to)
  }

  /// Determines `lineEnd` if there is a line end. Returns `false` if more input is needed to tell CR from CRLF.
  private mutating func findLineEnd(in input: UnsafeRawBufferPointer, from start: Int, isLast: Bool) -> Bool {
    guard let end = unsafe input[start...].firstIndex(where: { $0 == 0x0a || $0 == 0x0d }) else { return true }
    if unsafe input[end] == 0x0d, end + 1 == input.count, !isLast {
      isAtLineStart = isAtLineStart && end == start
      return false
    }
    lineEnd = unsafe input[end] == 0x0d && (end + 1 == input.count || input[end + 1] != 0x0a) ? 0x0d : 0x0a
    return true
  }
}

extension UnsafeRawBufferPointer {
  /// Returns the first index of a byte at or after `start`.
  @inline(__always)
  func firstIndex(of byte: UInt8, from start: Int) -> Int? { unsafe firstIndex(of: byte, in: start..<count) }

  /// Returns the first index of a byte in a range.
  @inline(__always)
  func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
    guard let base = baseAddress, range.lowerBound >= 0, range.upperBound <= count, !range.isEmpty,
      let found = unsafe memchr(base + range.lowerBound, Int32(byte), range.count)
    else { return nil }
    return unsafe UnsafeRawPointer(found) - base
  }
}
