/// Those fields of a document's form that have a widget on some pages, and only these of their kids.
struct FormFields {
  /// The fields at the top, in the order of their widgets.
  private(set) var top: [PDFObject.ID] = []
  /// Of fields above others, those that lead to a widget.
  private(set) var kids: [PDFObject.ID: [PDFObject.ID]] = [:]

  private(set) var hasWidgets = false

  init() {}

  /// - Parameters:
  ///   - objects: are of these pages' document.
  ///   - form: the fields at the top of the document's form.
  init(on pages: [PageTree.Page], _ objects: ObjectCache, in form: Set<PDFObject.ID>) {
    for page in pages {
      guard let annotations = page.object["/Annots"] else { continue }
      let text = ObjectText(annotations.ownText)
      // One that is in the array itself is part of no form.
      hasWidgets = hasWidgets || text.mentions("/Widget")
      for reference in text.references where objects.object(reference.id).text.has("/Widget", for: "/Subtype") {
        add(page.object.file.object(reference.id), reference.id, in: form)
      }
    }
  }

  private mutating func add(_ widget: PDFObject, _ id: PDFObject.ID, in form: Set<PDFObject.ID>) {
    hasWidgets = true
    var field = widget
    var id = id
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
