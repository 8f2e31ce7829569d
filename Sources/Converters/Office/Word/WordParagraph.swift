/// What a paragraph's properties say of it.
struct WordParagraph {
  var style: String?
  var list: WordListPlace?
  var outline: Int?
  /// Whether its end was deleted: the next one goes on in it.
  var isJoined = false
  var runs: [Run] = []
}
