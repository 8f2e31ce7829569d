/// The state that a group of an RTF file inherits and its end restores.
struct RichTextGroup {
  enum Place {
    case text, nothing
    case fonts, styles
    /// The instruction of a field, the label of a list item.
    case order, label
    case note
    case author
  }

  var place = Place.text
  var look: Run.Look = []
  var isHidden = false
  var font = -1
  /// The number of characters that replace a `\u` in readers that do not support it.
  var fallback = 1
  var link: String?
}
