public import Bytes
internal import Text

/// A message file of Apple Mail, `123.emlx` or `123.partial.emlx`: a line with the length of the message in bytes, the
/// message, and a property list that has its flags.
public struct AppleMessage: Sendable {
  /// The message's range in the file, in bytes.
  public let range: Range<Int64>
  public let state: MessageState

  /// The maximum length of the first line, in bytes.
  private static let longestLine = 32
  /// The maximum number of bytes of the property list that are read.
  private static let mostOfList = 16 << 10

  /// Parses a file. If it does not start with a length, all of it is the message. Blocks. Rethrows the source's faults.
  public init(_ source: any ByteSource) throws(Fault) {
    let head = try source.bytes(at: 0, count: Int(min(source.size, Int64(Self.longestLine))))
    guard let lineEnd = head.firstIndex(of: 0x0a), let length = Self.number(head[..<lineEnd]),
      let range = Self.range(from: Int64(lineEnd + 1), length, in: source.size)
    else {
      (range, state) = (0..<source.size, MessageState())
      return
    }
    self.range = range
    let rest = Int(min(source.size - range.upperBound, Int64(Self.mostOfList)))
    state = Self.state(in: try source.bytes(at: range.upperBound, count: rest))
  }

  private static func range(from start: Int64, _ length: UInt64, in size: Int64) -> Range<Int64>? {
    guard let length = Int64(exactly: length), length <= size - start else { return nil }
    return start..<start + length
  }

  /// Parses a decimal number with spaces around it.
  private static func number(_ text: ArraySlice<UInt8>) -> UInt64? {
    let digits = text.drop { $0 == 0x20 }.prefix { $0.isAsciiDigit }
    guard text[digits.endIndex...].allSatisfy(\.isMailSpace) else { return nil }
    return MessageHead.number(Array(digits).span)
  }

  /// Parses `<key>flags</key> <integer>8590195713</integer>`. Bit 0 means read, 1 deleted, 2 answered, 4 flagged, 6
  /// draft, 8 forwarded.
  private static func state(in list: [UInt8]) -> MessageState {
    let text = String(decoding: list, as: UTF8.self)
    guard let key = text.firstRange(of: "<key>flags</key>"),
      let open = text[key.upperBound...].firstRange(of: "<integer>")
    else { return MessageState() }
    let digits = text[open.upperBound...].prefix { ("0"..."9").contains($0) }
    guard let flags = UInt64(digits) else { return MessageState() }
    let meanings: [(bit: UInt64, state: MessageState)] = [
      (1, .deleted), (2, .replied), (4, .flagged), (6, .draft), (8, .passed),
    ]
    let state: MessageState = flags & 1 == 0 ? .unread : []
    return meanings.reduce(into: state) { if flags >> $1.bit & 1 == 1 { $0.insert($1.state) } }
  }
}
