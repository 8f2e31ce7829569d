/// The content of an RTF paragraph that has been read.
struct RichTextParagraph {
  var runs: [Run] = []
  /// The label in the file, with a tab after it. Empty if there is none.
  var label = ""
  var level = 0
  var heading = 0
  var isInTable = false
}
