/// What a group of an RTF file inherits and its end restores.
struct RichTextGroup {
  enum Place {
    case text, nothing
    case fonts, styles
    /// The order of a field, the label of a list's item.
    case order, label
    case note
    case author
  }

  var place = Place.text
  var look: Run.Look = []
  var isHidden = false
  var font = -1
  /// How many characters stand for a `\u` where that is not known.
  var fallback = 1
  var link: String?
}
