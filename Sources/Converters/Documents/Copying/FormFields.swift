/// The fields of a document's form that have a widget on selected pages, each with only those of its kids.
struct FormFields {
  /// The top-level fields, in the order of their widgets.
  private(set) var top: [PDFObject.ID] = []
  /// The kids of each parent field that lead to a widget.
  private(set) var kids: [PDFObject.ID: [PDFObject.ID]] = [:]

  private(set) var hasWidgets = false
  private var topSet: Set<PDFObject.ID> = []

  /// Returns whether a field has no parent.
  func isTop(_ id: PDFObject.ID) -> Bool { topSet.contains(id) }

  init() {}

  /// - Parameters:
  ///   - objects: the objects of the pages' document.
  ///   - form: the top-level fields of the document's form.
  init(on pages: [PageTree.Page], _ objects: ObjectCache, in form: Set<PDFObject.ID>) {
    for page in pages {
      guard let text = page.text.value(of: "/Annots").map({ objects.resolved($0) }) else { continue }
      // A widget inside the array itself does not belong to a form.
      hasWidgets = hasWidgets || text.mentions("/Widget")
      for reference in text.references where objects.object(reference.id).text.has("/Widget", for: "/Subtype") {
        add(reference.id, objects, in: form)
      }
    }
  }

  private mutating func add(_ widget: PDFObject.ID, _ objects: ObjectCache, in form: Set<PDFObject.ID>) {
    hasWidgets = true
    var id = widget
    // A deeper hierarchy means a loop.
    for _ in 0..<64 {
      guard let above = objects.object(id).text.reference(for: "/Parent") else { break }
      if kids[above, default: []].contains(id) { return }
      kids[above, default: []].append(id)
      id = above
    }
    if form.contains(id), topSet.insert(id).inserted { top.append(id) }
  }
}
