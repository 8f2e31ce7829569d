extension PDFFile {
  /// Whether somebody has signed the document, so that a change of it shows: by what it says of itself, or by a signature
  /// field with a value, since to say so is optional (PDF 32000-1, 12.7.4.5). Releases no objects.
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
      // Kids that are no objects of their own have none.
      guard field.id != nil else { continue }
      fields += (field["/Kids"]?.items ?? []).map { ($0, isSignature) }
    }
    return false
  }
}
