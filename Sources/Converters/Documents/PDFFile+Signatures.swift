extension PDFFile {
  /// Whether the document is signed, so that any change to it can be detected. Releases no objects.
  ///
  /// Checks the document's own flags and, since these are optional, looks for a signature field with a value (PDF
  /// 32000-1, 12.7.4.5).
  var isSigned: Bool {
    guard let form = root["/AcroForm"] else { return root["/Perms"] != nil }
    if root["/Perms"] != nil || (form["/SigFlags"]?.integer ?? 0) & 3 != 0 { return true }
    var seen: Set<PDFObject.ID> = []
    // With the type that kids inherit.
    var fields = (form["/Fields"]?.items ?? []).map { (field: $0, isSignature: false) }
    while let (field, isInherited) = fields.popLast() {
      if let id = field.id, !seen.insert(id).inserted { continue }
      let isSignature = field["/FT"]?.name.map { $0 == "/Sig" } ?? isInherited
      if isSignature, field["/V"] != nil { return true }
      // Kids that are not indirect objects have no kids themselves.
      guard field.id != nil else { continue }
      fields += (field["/Kids"]?.items ?? []).map { ($0, isSignature) }
    }
    return false
  }
}
