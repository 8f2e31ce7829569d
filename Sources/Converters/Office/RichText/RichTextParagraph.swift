/// What has been read of an RTF paragraph.
struct RichTextParagraph {
  var runs: [Run] = []
  /// As the file has it, with a tab behind it; empty if there is none.
  var label = ""
  var level = 0
  var heading = 0
  var isInTable = false
}
