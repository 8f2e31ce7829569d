internal import CPopplerText
internal import Catalogue
internal import Documents
internal import WorkerKit

extension ReadDocument {
  /// The maximum number of words on a page. No readable page has more.
  private static var mostWords: Int { 500_000 }

  /// Returns the words of a page in reading order, as in `withText`.
  ///
  /// - Parameter index: from 0.
  func words(ofPage index: Int) throws(JobFailure) -> [PageWord] {
    guard let found = unsafe try ffconvert_text_words_of_page(document, examined.place(of: index)) else {
      throw JobFailure(.damaged, "has no readable page \(index + 1)")
    }
    defer { unsafe ffconvert_text_words_free(found) }
    let count = unsafe ffconvert_text_word_count(found)
    try noteDamage(ofPage: index)
    guard count <= Self.mostWords else {
      throw JobFailure(.limit, "has \(count) words on page \(index + 1), which is too much")
    }
    var words: [PageWord] = []
    words.reserveCapacity(count)
    for number in 0..<count {
      var word = unsafe ffconvert_text_word()
      guard unsafe ffconvert_text_word_at(found, number, &word) == 0 else { throw JobFailure.noMemory() }
      let bytes = unsafe UnsafeRawBufferPointer(start: word.text, count: word.count)
      let text = unsafe String(decoding: bytes, as: UTF8.self).withoutControls
      let box = unsafe PageBox(
        left: word.left, top: word.top, right: word.left + word.width, bottom: word.top + word.height)
      if text.isEmpty || ![box.left, box.top, box.right, box.bottom].allSatisfy(\.isFinite) { continue }
      let size = unsafe word.size
      words.append(
        PageWord(
          text: text, box: box, size: size.isFinite && size > 0 ? size : 0,
          rotation: unsafe Int(word.rotation) & 3, hasSpaceAfter: unsafe word.has_space_after != 0))
    }
    return words
  }
}

extension String {
  /// The text without control characters.
  fileprivate var withoutControls: String {
    guard unicodeScalars.contains(where: \.isControl) else { return self }
    return String(String.UnicodeScalarView(unicodeScalars.filter { !$0.isControl }))
  }
}

extension Unicode.Scalar {
  fileprivate var isControl: Bool { value < 0x20 || (0x7f..<0xa0).contains(value) }
}
