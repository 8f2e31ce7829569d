/// The title and the language that the head of a web page declares.
package struct PageHead: Sendable {
  /// The title in one line. `nil` if there is none.
  package private(set) var title: String?
  /// The declared language, as written. `nil` if there is none.
  package private(set) var language: String?

  /// The maximum size of the head that is examined, in bytes.
  private static let longest = 64 << 10

  /// Reads the start of a page in UTF-8.
  package init(of page: [UInt8]) {
    var tags = StartTags(of: Array(page.prefix(Self.longest)))
    while let tag = tags.next() {
      switch tags.name(of: tag) {
      case "html": language = tags.value("lang", of: tag).flatMap { $0.isEmpty ? nil : $0 } ?? language
      case "meta":
        if language == nil, tags.value("http-equiv", of: tag)?.lowercased() == "content-language" {
          language = tags.value("content", of: tag)
        }
      case "title":
        let words = tags.words(after: tag)
        if title == nil, !words.isEmpty { title = words }
      case "body": return
      default: break
      }
    }
  }
}
