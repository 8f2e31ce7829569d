/// The properties and the content of a paragraph.
struct WordParagraph {
  var style: String?
  var list: WordListPlace?
  var outline: Int?
  /// Whether its end was deleted. The next paragraph then continues it.
  var isJoined = false
  var runs: [Run] = []
}
