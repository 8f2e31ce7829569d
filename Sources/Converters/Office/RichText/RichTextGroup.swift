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
  var link: String?
}
