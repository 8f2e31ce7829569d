/// Those fields of a document's form that have a widget on some pages, and only these of their kids.
struct FormFields {
  /// The fields at the top, in the order of their widgets.
  private(set) var top: [PDFObject.ID] = []
  /// Of fields above others, those that lead to a widget.
  private(set) var kids: [PDFObject.ID: [PDFObject.ID]] = [:]

  private(set) var hasWidgets = false
  private var topSet: Set<PDFObject.ID> = []

  /// Whether a field has none above it.
  func isTop(_ id: PDFObject.ID) -> Bool { topSet.contains(id) }

  init() {}

  /// - Parameters:
  ///   - objects: are of these pages' document.
  ///   - form: the fields at the top of the document's form.
  init(on pages: [PageTree.Page], _ objects: ObjectCache, in form: Set<PDFObject.ID>) {
    for page in pages {
      guard let text = page.text.value(of: "/Annots").map({ objects.resolved($0) }) else { continue }
      // One that is in the array itself is part of no form.
      hasWidgets = hasWidgets || text.mentions("/Widget")
      for reference in text.references where objects.object(reference.id).text.has("/Widget", for: "/Subtype") {
        add(reference.id, objects, in: form)
      }
    }
  }

  private mutating func add(_ widget: PDFObject.ID, _ objects: ObjectCache, in form: Set<PDFObject.ID>) {
    hasWidgets = true
    var id = widget
    // Deeper is a loop.
    for _ in 0..<64 {
      guard let above = objects.object(id).text.reference(for: "/Parent") else { break }
      if kids[above, default: []].contains(id) { return }
      kids[above, default: []].append(id)
      id = above
    }
    if form.contains(id), topSet.insert(id).inserted { top.append(id) }
  }
}
