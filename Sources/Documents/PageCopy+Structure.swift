internal import JobFiles

/// The part of a document's structure that is about the pages which are copied.
extension PageCopy {
  /// More elements are left out, with all others.
  private static let mostElements = 1 << 16

  /// Writes it; nil where there is none. Called when all else was copied: what is tagged is known by then.
  mutating func add(_ structure: DocumentStructure) throws(JobFailure) -> Int? {
    let keys = structureKeys.sorted()
    let entries = keys.compactMap { key in structure.parents.value(of: key).map { (key: key, text: ObjectText($0)) } }
    guard let elements = elements(of: entries.map(\.text), structure.id), !elements.isEmpty else { return nil }
    let number = writer.reserve()
    for id in elements { _ = assignNumber(to: id) }
    let kept = Set(elements)
    var identifiers: [(key: [UInt8], entry: [UInt8])] = []
    for id in elements {
      let text = objects.object(id).text
      try write(element: id, text, below: structure.id, number, among: kept)
      if let name = text.value(of: "/ID"), let key = ObjectText.string(name) {
        identifiers.append((key, name + [0x20] + references(to: [id]).dropFirst(2).dropLast()))
      }
    }
    var root = Array("<< /Type /StructTreeRoot /K ".utf8) + keptKids(of: structure.root, page: nil, among: kept)
    root += " /ParentTree << /Nums [ ".utf8
    for (key, text) in entries { root += Array("\(key) ".utf8) + parents(text, among: kept) + [0x20] }
    root += "] >> /ParentTreeNextKey \((keys.last ?? 0) &+ 1)".utf8
    for key in ["/RoleMap", "/ClassMap", "/Namespaces"] {
      if let value = structure.root.value(of: key) {
        root += Array(" \(key) ".utf8) + translated(ObjectText(Array(value)))
      }
    }
    if !identifiers.isEmpty {
      identifiers.sort { $0.key.lexicographicallyPrecedes($1.key) }
      root += Array(" /IDTree << /Names [ ".utf8) + identifiers.flatMap { $0.entry + [0x20] } + Array("] >>".utf8)
    }
    try writer.write(number, root + Array(" >>".utf8))
    try writeWaiting()
    return number
  }

  /// The elements that these refer to, and those above them, as they are met; nil: too many, or no tree.
  private func elements(of entries: [ObjectText], _ root: PDFObject.ID) -> [PDFObject.ID]? {
    var found: [PDFObject.ID] = []
    var seen: Set<PDFObject.ID> = [root]
    for entry in entries {
      for reference in list(entry).references {
        var id = reference.id
        while seen.insert(id).inserted {
          let text = objects.object(id).text
          guard found.count < Self.mostElements else { return nil }
          // What is lost leads nowhere.
          guard text.isDictionary else { break }
          found.append(id)
          guard let above = text.reference(for: "/P") else { break }
          id = above
        }
      }
    }
    return found
  }

  /// An entry that is an array, or the one that it refers to; an element's reference as it is.
  private func list(_ entry: ObjectText) -> ObjectText {
    let resolved = objects.resolved(entry.bytes[...])
    return resolved.isDictionary ? entry : resolved
  }

  private mutating func write(
    element id: PDFObject.ID, _ text: ObjectText, below root: PDFObject.ID, _ top: Int, among kept: Set<PDFObject.ID>
  ) throws(JobFailure) {
    guard let number = newNumber(of: id) else { return }
    let above = text.reference(for: "/P").flatMap { $0 == root ? nil : newNumber(of: $0) } ?? top
    let page = text.reference(for: "/Pg")
    var own = translated(text.without(["/K", "/P", "/Pg", "/Ref"])).dropLast(2) + Array(" /P \(above) 0 R".utf8)
    if let page, isCopied(page: page), let number = newNumber(of: page) { own += " /Pg \(number) 0 R".utf8 }
    own += Array(" /K ".utf8) + keptKids(of: text, page: page, among: kept) + Array(" >>".utf8)
    try writer.write(number, Array(own))
  }

  /// What of an element's content is on the pages.
  private mutating func keptKids(
    of element: ObjectText, page: PDFObject.ID?, among kept: Set<PDFObject.ID>
  ) -> [UInt8] {
    guard let value = element.value(of: "/K") else { return Array("[ ]".utf8) }
    var items = [value]
    if value.first == 0x5B {
      items = ObjectText.items(value)
    } else {
      let resolved = objects.resolved(value)
      if resolved.bytes.first == 0x5B { items = ObjectText.items(resolved.bytes[...]) }
    }
    var text = Array("[ ".utf8)
    for item in items {
      if let new = keptKid(ObjectText(Array(item)), page: page, among: kept) { text += new + [0x20] }
    }
    return text + [0x5D]
  }

  private mutating func keptKid(
    _ item: ObjectText, page: PDFObject.ID?, among kept: Set<PDFObject.ID>
  ) -> [UInt8]? {
    if let reference = item.references.first, reference.range == item.bytes.indices, kept.contains(reference.id) {
      return newNumber(of: reference.id).map { Array("\($0) 0 R".utf8) }
    }
    // A part of a page's contents by its number alone.
    if item.references.isEmpty, !item.isDictionary {
      return page.map { isCopied(page: $0) } ?? false ? item.bytes : nil
    }
    let resolved = objects.resolved(item.bytes[...])
    if resolved.has("/OBJR", for: "/Type") {
      guard let object = resolved.reference(for: "/Obj"), newNumber(of: object) != nil else { return nil }
      return translated(resolved)
    }
    guard resolved.has("/MCR", for: "/Type"), let own = resolved.reference(for: "/Pg") ?? page, isCopied(page: own)
    else { return nil }
    return translated(resolved)
  }

  /// An entry of the new tree: what was left out is null.
  private func parents(_ entry: ObjectText, among kept: Set<PDFObject.ID>) -> [UInt8] {
    let list = list(entry)
    return list.replacingReferences(
      with: list.references.map { reference in
        kept.contains(reference.id) ? newNumber(of: reference.id).map { Array("\($0) 0 R".utf8) } : nil
      }.map { $0 ?? Array("null".utf8) })
  }
}
