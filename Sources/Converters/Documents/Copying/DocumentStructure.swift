/// The logical structure of a document (ISO 32000-1, 14.7): headings, paragraphs, tables.
struct DocumentStructure {
  let root: ObjectText
  let id: PDFObject.ID
  /// The parent tree: maps the numbers of pages, annotations and forms to their structure elements.
  let parents: NumberTree

  /// Returns `nil` if the document is not tagged.
  init?(_ catalog: PDFObject, _ objects: ObjectCache) {
    guard let object = catalog["/StructTreeRoot"], let id = object.id else { return nil }
    let text = objects.object(id).text
    guard let parents = text.value(of: "/ParentTree") else { return nil }
    (root, self.id, self.parents) = (text, id, NumberTree(Array(parents), objects))
  }
}
