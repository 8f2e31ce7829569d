/// Those fields of a document's form that have a widget on some pages, and only these of their kids.
struct FormFields {
  /// The fields at the top, in the order of their widgets.
  private(set) var top: [PDFObject.ID] = []
  /// Of fields above others, those that lead to a widget.
  private(set) var kids: [PDFObject.ID: [PDFObject.ID]] = [:]

  private(set) var hasWidgets = false

  /// - Parameter form: the fields at the top of the document's form.
  init(on pages: [PageTree.Page], in form: Set<PDFObject.ID>) {
    for page in pages {
      for annotation in page.object["/Annots"]?.items ?? [] where annotation["/Subtype"]?.name == "/Widget" {
        add(annotation, in: form)
      }
    }
  }

  private mutating func add(_ widget: PDFObject, in form: Set<PDFObject.ID>) {
    hasWidgets = true
    guard var id = widget.id else { return }
    var field = widget
    // Deeper is a loop.
    for _ in 0..<64 {
      guard let above = field["/Parent"], let aboveID = above.id else { break }
      if kids[aboveID, default: []].contains(id) { return }
      kids[aboveID, default: []].append(id)
      field = above
      id = aboveID
    }
    if form.contains(id), !top.contains(id) { top.append(id) }
  }
}
