internal import Catalogue
internal import WorkerKit

/// Copies the part of a document's structure that belongs to the copied pages.
extension PageCopy {
  /// The maximum number of elements. If there are more, the whole structure is left out.
  private static let mostElements = 1 << 16
  /// The minimum number of elements to pack. Fewer are not smaller in object streams.
  private static let fewestPacked = 8

  /// The structure elements with content on the pages.
  private struct Elements {
    /// All elements, in the order in which they are found.
    var all: [PDFObject.ID] = []
    /// The elements that have content of their own on the pages.
    var direct: Set<PDFObject.ID> = []
    /// The types and classes of the elements, with slashes.
    var types: Set<[UInt8]> = []
    var classes: Set<[UInt8]> = []
  }

  /// Writes the structure, which is empty if nothing on the pages is tagged. Returns `nil` if it cannot be copied. Must
  /// be called after everything else was copied, when all tagged objects are known.
  ///
  /// - Parameter isPacked: whether elements may be written into object streams.
  mutating func add(_ structure: DocumentStructure, isPacked: Bool) throws(JobFailure) -> Int? {
    let keys = structureKeys.sorted()
    let entries = keys.compactMap { key in structure.parents.value(of: key).map { (key: key, text: ObjectText($0)) } }
    guard let elements = elements(of: entries.map(\.text), structure.id) else { return nil }
    if isPacked, elements.all.count >= Self.fewestPacked { try pack() }
    let number = writer.reserve()
    for id in elements.all { _ = assignNumber(to: id) }
    let kept = Set(elements.all)
    var identifiers: [(key: [UInt8], entry: [UInt8])] = []
    for id in elements.all {
      let text = objects.object(id).text
      try write(element: id, text, elements.direct.contains(id), below: structure.id, number, among: kept)
      if let name = text.value(of: "/ID"), let key = ObjectText.string(name) {
        identifiers.append((key, name + [0x20] + references(to: [id]).dropFirst(2).dropLast()))
      }
    }
    var root = Array("<< /Type /StructTreeRoot /K ".utf8) + keptElements(of: structure.root, among: kept)
    root += " /ParentTree << /Nums [ ".utf8
    for (key, text) in entries { root += Array("\(key) ".utf8) + parents(text, among: kept) + [0x20] }
    root += "] >> /ParentTreeNextKey \((keys.last ?? 0) &+ 1)".utf8
    if let map = structure.root.value(of: "/RoleMap").map({ objects.resolved($0) }) {
      root += Array(" /RoleMap ".utf8) + translated(Self.roles(of: elements.types, in: map))
    }
    if let map = structure.root.value(of: "/ClassMap").map({ objects.resolved($0) }) {
      root += Array(" /ClassMap ".utf8) + translated(map.keeping { elements.classes.contains(Array($0)) })
    }
    if let namespaces = structure.root.value(of: "/Namespaces") {
      root += Array(" /Namespaces ".utf8) + translated(ObjectText(Array(namespaces)))
    }
    if !identifiers.isEmpty {
      identifiers.sort { $0.key.lexicographicallyPrecedes($1.key) }
      root += Array(" /IDTree << /Names [ ".utf8) + identifiers.flatMap { $0.entry + [0x20] } + Array("] >>".utf8)
    }
    try write(number, root + Array(" >>".utf8))
    try writeWaiting()
    return number
  }

  /// Returns the entries of a role map for these types, and for the types they map to.
  private static func roles(of types: Set<[UInt8]>, in map: ObjectText) -> ObjectText {
    let pairs = map.entries.map { (Array(map.bytes[$0.key]), Array(map.bytes[$0.value])) }
    let roles = Dictionary(pairs) { first, _ in first }
    var named: Set<[UInt8]> = []
    for type in types {
      var next = type
      while let role = roles[next], named.insert(next).inserted { next = role }
    }
    return map.keeping { named.contains(Array($0)) }
  }

  /// Returns the elements that these entries refer to, and their ancestors, in the order found. Returns `nil` if there
  /// are too many or the tree is damaged.
  private func elements(of entries: [ObjectText], _ root: PDFObject.ID) -> Elements? {
    var found = Elements()
    var seen: Set<PDFObject.ID> = [root]
    for entry in entries {
      for reference in list(entry).references {
        var id = reference.id
        found.direct.insert(id)
        while seen.insert(id).inserted {
          let text = objects.object(id).text
          guard found.all.count < Self.mostElements else { return nil }
          // A missing element ends the path.
          guard text.isDictionary else { break }
          found.all.append(id)
          if let type = text.value(of: "/S") { found.types.insert(Array(type)) }
          if let classes = text.value(of: "/C").map({ objects.resolved($0).bytes[...] }) {
            found.classes.formUnion((classes.first == 0x5B ? ObjectText.items(classes) : [classes]).map { Array($0) })
          }
          guard let above = text.reference(for: "/P") else { break }
          id = above
        }
      }
    }
    return found
  }

  /// Returns an entry that is an array, or the array it refers to. Returns an element's reference unchanged.
  private func list(_ entry: ObjectText) -> ObjectText {
    let resolved = objects.resolved(entry.bytes[...])
    return resolved.isDictionary ? entry : resolved
  }

  private mutating func write(
    element id: PDFObject.ID, _ text: ObjectText, _ isDirect: Bool, below root: PDFObject.ID, _ top: Int,
    among kept: Set<PDFObject.ID>
  ) throws(JobFailure) {
    guard let number = newNumber(of: id) else { return }
    let above = text.reference(for: "/P").flatMap { $0 == root ? nil : newNumber(of: $0) } ?? top
    let page = text.reference(for: "/Pg")
    var own = translated(text.without(["/K", "/P", "/Pg", "/Ref"])).dropLast(2) + Array(" /P \(above) 0 R".utf8)
    if let page, isCopied(page: page), let number = newNumber(of: page) { own += " /Pg \(number) 0 R".utf8 }
    let kids = isDirect ? keptKids(of: text, page: page, among: kept) : keptElements(of: text, among: kept)
    own += Array(" /K ".utf8) + kids + Array(" >>".utf8)
    try write(number, Array(own))
  }

  /// Returns the kids of an element without content of its own on the pages. There may be very many, so kids on other
  /// pages are not read.
  private func keptElements(of element: ObjectText, among kept: Set<PDFObject.ID>) -> [UInt8] {
    guard let value = element.value(of: "/K") else { return Array("[ ]".utf8) }
    var list = element.references.filter { value.indices.contains($0.range.lowerBound) }
    if value.first != 0x5B {
      let resolved = objects.resolved(value)
      if resolved.bytes.first == 0x5B { list = resolved.references }
    }
    var text = Array("[ ".utf8)
    for reference in list where kept.contains(reference.id) {
      guard let number = newNumber(of: reference.id) else { continue }
      text.append(decimal: number)
      text += " 0 R ".utf8
    }
    return text + [0x5D]
  }

  /// Returns the kids of an element that are on the pages.
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
    // A marked-content identifier, which belongs to the element's page.
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

  /// Returns an entry of the new parent tree. Elements left out become null.
  private func parents(_ entry: ObjectText, among kept: Set<PDFObject.ID>) -> [UInt8] {
    let list = list(entry)
    return list.replacingReferences(
      with: list.references.map { reference in
        kept.contains(reference.id) ? newNumber(of: reference.id).map { Array("\($0) 0 R".utf8) } : nil
      }.map { $0 ?? Array("null".utf8) })
  }
}
