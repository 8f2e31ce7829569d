/// Reduces the resources of a page to the fonts, images and forms that its contents name.
///
/// Producers often give all pages of a document the same dictionary. Each single page would then carry the resources of
/// all. In doubt, resources are kept.
struct PageResources {
  let file: PDFFile
  let objects: ObjectCache

  /// The categories that producers list for many pages at once.
  private static let kinds = ["/Font", "/XObject"]

  /// Returns the resources without those that the page does not name. Returns `nil` to keep all.
  func needed(by page: PageTree.Page) -> ObjectText? {
    guard let value = page.text.value(of: "/Resources") ?? page.inherited["/Resources"]?.bytes[...] else { return nil }
    let all = objects.resolved(value)
    let lists = PageResources.kinds.compactMap { kind in all.value(of: kind).map { (kind, objects.resolved($0)) } }
    guard lists.contains(where: { !$0.1.entries.isEmpty }), !hasAppearances(page), !hasMasks(all),
      !hasPatterns(all), let names = namesInContents(of: page)
    else { return nil }
    var text = Array("<< ".utf8)
    var isLess = false
    for (kind, list) in lists {
      let kept = list.entries.filter { names.contains(PageResources.plain(list.bytes[$0.key])) }
      isLess = isLess || kept.count < list.entries.count
      text += "\(kind) << ".utf8
      for entry in kept {
        text += list.bytes[entry.key.lowerBound..<entry.value.upperBound]
        text.append(0x20)
      }
      text += ">> ".utf8
      let references = list.references.filter { reference in
        kept.contains { $0.value.contains(reference.range.lowerBound) }
      }
      if draws(references) || kept.contains(where: { draws(ObjectText(Array(list.bytes[$0.value]))) }) { return nil }
    }
    guard isLess else { return nil }
    for entry in all.entries where !PageResources.kinds.contains(where: { all.bytes[entry.key].elementsEqual($0.utf8) })
    {
      text += all.bytes[entry.key.lowerBound..<entry.value.upperBound]
      text.append(0x20)
    }
    text += ">>".utf8
    return ObjectText(text)
  }

  /// Returns whether any of these objects has contents of its own. Readers look up resources missing there in the
  /// page's.
  private func draws(_ references: [ObjectText.Reference]?) -> Bool {
    (references ?? []).contains { draws(objects.object($0.id).text) }
  }

  private func draws(_ text: ObjectText) -> Bool {
    text.has("/Form", for: "/Subtype") || text.has("/Type3", for: "/Subtype") || text.has("1", for: "/PatternType")
  }

  /// Returns whether any pattern has contents of its own, or a shading pattern has a graphics state.
  private func hasPatterns(_ resources: ObjectText) -> Bool {
    guard let patterns = resources.value(of: "/Pattern").map(objects.resolved) else { return false }
    return draws(patterns.references) || patterns.mentions("/ExtGState")
      || patterns.entries.contains { draws(ObjectText(Array(patterns.bytes[$0.value]))) }
  }

  /// Returns whether a graphics state has a soft mask.
  private func hasMasks(_ resources: ObjectText) -> Bool {
    guard let states = resources.value(of: "/ExtGState").map(objects.resolved) else { return false }
    return states.mentions("/SMask")
      || states.references.contains { reference in
        let mask = objects.object(reference.id).text.value(of: "/SMask")
        return mask.map { !$0.elementsEqual("/None".utf8) } ?? false
      }
  }

  /// Returns whether an annotation of the page has an appearance.
  private func hasAppearances(_ page: PageTree.Page) -> Bool {
    guard let annotations = page.text.value(of: "/Annots").map(objects.resolved) else { return false }
    return annotations.mentions("/AP")
      || annotations.references.contains { objects.object($0.id).text.value(of: "/AP") != nil }
  }

  /// Returns the names in the page's contents. Returns `nil` if the contents cannot be read.
  private func namesInContents(of page: PageTree.Page) -> Set<[UInt8]>? {
    guard let value = page.text.value(of: "/Contents") else { return [] }
    let text = ObjectText(Array(value))
    var streams = text.references.map(\.id)
    if let only = streams.first, text.bytes.first != 0x5B, objects.object(only).kind != .stream {
      streams = objects.object(only).text.references.map(\.id)
    }
    // A name cannot span two streams.
    var names: Set<[UInt8]> = []
    for stream in streams {
      guard objects.object(stream).kind == .stream, let data = file.object(stream).decodedData else { return nil }
      PageResources.collectNames(in: data, into: &names)
    }
    return names
  }

  /// Collects everything in the form of a name, even in strings and images.
  private static func collectNames(in data: [UInt8], into names: inout Set<[UInt8]>) {
    var at = 0
    while at < data.count {
      if data[at] != 0x2F {
        at += 1
        continue
      }
      let start = at
      at += 1
      while at < data.count, !ends(data[at]) { at += 1 }
      names.insert(plain(data[start..<at]))
    }
  }

  /// Returns whether a byte ends a name.
  private static func ends(_ byte: UInt8) -> Bool {
    switch byte {
    case 0...0x20, 0x25, 0x28, 0x29, 0x2F, 0x3C, 0x3E, 0x5B, 0x5D, 0x7B, 0x7D: true
    default: false
    }
  }

  /// Returns a name with `#xx` escapes decoded.
  private static func plain(_ name: ArraySlice<UInt8>) -> [UInt8] {
    guard name.contains(0x23) else { return Array(name) }
    var bytes: [UInt8] = []
    var rest = name
    while let byte = rest.popFirst() {
      let digits = rest.prefix(2).compactMap { Character(UnicodeScalar($0)).hexDigitValue }
      if byte == 0x23, digits.count == 2 {
        bytes.append(UInt8(digits[0] << 4 | digits[1]))
        rest.removeFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return bytes
  }
}
