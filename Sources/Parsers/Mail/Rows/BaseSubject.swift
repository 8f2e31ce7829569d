internal import Text

/// A subject without the additions of replies and forwards (RFC 5256 §2.1).
public struct BaseSubject: Sendable, Equatable {
  /// With its original case; may be empty.
  public let text: String
  /// Whether the subject marks the message as a reply or a forward.
  public let isReply: Bool

  /// Parses a subject. O(n).
  public init(_ subject: String) {
    var reader = SubjectReader(subject)
    reader.read()
    text = String(decoding: reader.text[reader.range], as: UTF8.self)
    isReply = reader.isReply
  }

  /// A key whose low 63 bits identify the base subject, ignoring case. They are 0 if it is empty.
  var key: UInt64 { text.isEmpty ? 0 : MessageRow.hash(ofID: Array(text.lowercased().utf8)[...]) | 1 }
}

private struct SubjectReader {
  /// With runs of white space collapsed into one space.
  let text: [UInt8]
  var range: Range<Int>
  var isReply = false

  /// `Re`, `Fw` and `Fwd`, and their equivalents in other languages, in lower case.
  private static let marks = Set(
    """
    re fw fwd aw antw antwort wg sv vs vb vl doorst rif r ri i res rsp enc rv tr rép odp pd ynt ilt i̇lt vá továbbítás \
    atb ats fs bls trs ha на отв ответ пересл прос одг відп пер ина σχετ απ πρθ השב הועבר رد 回复 回覆 答复 答覆 转发 轉發 \
    轉寄 返信 転送 回信 회신 답장 전달
    """.split(separator: " ").map { String($0) })

  /// The maximum length of a mark, in bytes.
  private static let longestMark = 40

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

  /// Drops `(fwd)` at the end.
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

  /// Drops `Re:`, `Re[2]:`, `[list] Re :`.
  private mutating func dropLeader() -> Bool {
    range = behindSpace(range.lowerBound)..<range.upperBound
    var index = range.lowerBound
    while let end = blobEnd(index) { index = end }
    let start = index
    while index < range.upperBound, isOfWord(index) { index += 1 }
    let word = start..<index
    guard !word.isEmpty, word.count <= Self.longestMark else { return false }
    index = behindSpace(behindNumber(index))
    if let end = blobEnd(index) { index = end }
    // Most subjects have no colon, and need no string.
    guard let end = colonEnd(index), isMark(word) else { return false }
    isReply = true
    range = end..<range.upperBound
    return true
  }

  private func isMark(_ word: Range<Int>) -> Bool {
    Self.marks.contains(String(decoding: text[word], as: UTF8.self).lowercased())
  }

  private func isOfWord(_ index: Int) -> Bool {
    text[index].isAsciiLetter || text[index] >= 0x80 && colonEnd(index) == nil
  }

  /// Returns the end of the colon at `index`, which may be full-width. Returns `nil` if there is none.
  private func colonEnd(_ index: Int) -> Int? {
    guard index < range.upperBound else { return nil }
    if text[index] == 0x3a { return index + 1 }
    return text.span.matches("\u{ff1a}", at: index) && index + 3 <= range.upperBound ? index + 3 : nil
  }

  /// Returns the end of `(2)`, `^2` or `2` at `start`, or `start` if there is none.
  private func behindNumber(_ start: Int) -> Int {
    var index = start
    let isOpen = index < range.upperBound && text[index] == 0x28
    if index < range.upperBound, isOpen || text[index] == 0x5e || text[index] == 0x2a { index += 1 }
    let digits = index
    while index < range.upperBound, text[index].isAsciiDigit { index += 1 }
    guard index > digits else { return start }
    guard isOpen else { return index }
    return index < range.upperBound && text[index] == 0x29 ? index + 1 : start
  }

  /// Drops `[list]`, unless it is the whole subject.
  private mutating func dropBlob() -> Bool {
    guard let end = blobEnd(range.lowerBound), end < range.upperBound else { return false }
    range = end..<range.upperBound
    return true
  }

  /// Drops the frame of `[fwd: …]`.
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

  /// Returns the end of the `[…]` at `start` and the following spaces. Returns `nil` if there is none.
  private func blobEnd(_ start: Int) -> Int? {
    guard start < range.upperBound, text[start] == 0x5b else { return nil }
    var index = start + 1
    while index < range.upperBound, text[index] != 0x5b, text[index] != 0x5d { index += 1 }
    guard index < range.upperBound, text[index] == 0x5d else { return nil }
    return behindSpace(index + 1)
  }
}
