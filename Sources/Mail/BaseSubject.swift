/// A subject without what replies and forwards put around it (RFC 5256 §2.1).
public struct BaseSubject: Sendable, Equatable {
  /// With its letters as they were; perhaps empty.
  public let text: String
  /// Whether the subject says that the message is a reply or was forwarded.
  public let isReply: Bool

  /// Linear.
  public init(_ subject: String) {
    var reader = SubjectReader(subject)
    reader.read()
    text = String(decoding: reader.text[reader.range], as: UTF8.self)
    isReply = reader.isReply
  }

  /// By which base subjects are compared: case is of no matter, and 0 stands for none.
  static func key(of text: ArraySlice<UInt8>) -> UInt64 {
    if text.isEmpty { return 0 }
    let lower = String(decoding: text, as: UTF8.self).lowercased()
    return max(1, MessageRow.hash(ofID: Array(lower.utf8)[...]))
  }
}

private struct SubjectReader {
  /// Runs of white space are one space.
  let text: [UInt8]
  var range: Range<Int>
  var isReply = false

  /// `Re`, `Fw` and `Fwd`, and what German, Dutch and Scandinavian programs write for them.
  private static let marks: [StaticString] = ["re", "fw", "fwd", "aw", "wg", "sv", "vs", "antw"]

  init(_ subject: String) {
    var text: [UInt8] = []
    text.reserveCapacity(subject.utf8.count)
    for byte in subject.utf8 {
      let plain: UInt8 = byte == 0x09 || byte == 0x0a || byte == 0x0d ? 0x20 : byte
      if plain != 0x20 || text.last ?? 0x20 != 0x20 { text.append(plain) }
    }
    if text.last == 0x20 { text.removeLast() }
    self.text = text
    range = 0..<text.count
  }

  mutating func read() {
    repeat {
      while dropTrailer() {}
      while dropLeader() || dropBlob() {}
    } while dropForward()
  }

  /// `(fwd)` at the end.
  private mutating func dropTrailer() -> Bool {
    let end = trimmedEnd
    guard end - range.lowerBound >= 5, reads("(fwd)", in: end - 5..<end) else {
      range = range.lowerBound..<end
      return false
    }
    isReply = true
    range = range.lowerBound..<end - 5
    return true
  }

  private var trimmedEnd: Int {
    var end = range.upperBound
    while end > range.lowerBound, text[end - 1] == 0x20 { end -= 1 }
    return end
  }

  /// `Re:`, `Re[2]:`, `[list] Re :`.
  private mutating func dropLeader() -> Bool {
    range = behindSpace(range.lowerBound)..<range.upperBound
    var index = range.lowerBound
    while let end = blobEnd(index) { index = end }
    let start = index
    while index < range.upperBound, text[index].isAsciiLetter { index += 1 }
    guard Self.marks.contains(where: { reads($0, in: start..<index) }) else { return false }
    index = behindSpace(index)
    if let end = blobEnd(index) { index = end }
    guard index < range.upperBound, text[index] == 0x3a else { return false }
    isReply = true
    range = index + 1..<range.upperBound
    return true
  }

  /// `[list]`, unless it is all there is.
  private mutating func dropBlob() -> Bool {
    guard let end = blobEnd(range.lowerBound), end < range.upperBound else { return false }
    range = end..<range.upperBound
    return true
  }

  /// What `[fwd: …]` is around.
  private mutating func dropForward() -> Bool {
    guard range.count > 6, text[range.upperBound - 1] == 0x5d,
      reads("[fwd:", in: range.lowerBound..<range.lowerBound + 5)
    else { return false }
    isReply = true
    range = range.lowerBound + 5..<range.upperBound - 1
    return true
  }

  private func reads(_ word: StaticString, in place: Range<Int>) -> Bool {
    text.span.extracting(place).equalsIgnoringCase(word)
  }

  private func behindSpace(_ start: Int) -> Int {
    var index = start
    while index < range.upperBound, text[index] == 0x20 { index += 1 }
    return index
  }

  /// Behind the `[…]` at `start` and the spaces that follow; nil where none is.
  private func blobEnd(_ start: Int) -> Int? {
    guard start < range.upperBound, text[start] == 0x5b else { return nil }
    var index = start + 1
    while index < range.upperBound, text[index] != 0x5b, text[index] != 0x5d { index += 1 }
    guard index < range.upperBound, text[index] == 0x5d else { return nil }
    return behindSpace(index + 1)
  }
}
