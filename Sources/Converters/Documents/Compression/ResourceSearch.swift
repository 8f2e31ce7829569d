/// Finds what can be painted by way of resources: images among them, in forms, patterns, soft masks and glyphs.
struct ResourceSearch {
  /// Of resources and of forms, by those that were looked at: whether they lead to images.
  private var known: [PDFObject.ID: Bool] = [:]
  /// What everything was found of.
  private var exhausted: Set<PDFObject.ID> = []
  private var steps = 0
  /// False when something has a name that cannot be asked for.
  private(set) var isComplete = true

  /// After so many steps anything may lead to images.
  private static let mostSteps = 1 << 20

  private struct Node {
    let resources: PDFObject
    let ids: [PDFObject.ID]
    let parent: Int?
  }

  /// What a dictionary of a dictionary holds.
  mutating func entries(_ key: String, of resources: PDFObject) -> [PDFObject] {
    guard let dictionary = resources[key] else { return [] }
    let keys = dictionary.keys
    steps += 1 + keys.count
    return keys.compactMap { key in
      let value = dictionary[key]
      // It was not UTF-8.
      if value == nil, key.unicodeScalars.contains("\u{FFFD}") { isComplete = false }
      return value
    }
  }

  /// Whether images may be painted by what has these resources. Resources may lead in circles.
  mutating func leadsToImages(_ resources: PDFObject) -> Bool {
    if let id = resources.id, let known = known[id] { return known }
    let ids = resources.id.map { [$0] } ?? []
    var nodes = [Node(resources: resources, ids: ids, parent: nil)]
    var seen = Set(ids)
    var next = 0
    while next < nodes.count {
      if steps > Self.mostSteps || hasImages(next, &nodes, &seen) {
        // So do those on the way.
        var node: Int? = next
        while let index = node {
          for id in nodes[index].ids { known[id] = true }
          node = nodes[index].parent
        }
        return true
      }
      next += 1
    }
    for id in seen { known[id] = false }
    return false
  }

  /// Whether a node has images; else it adds those that it leads to.
  private mutating func hasImages(_ index: Int, _ nodes: inout [Node], _ seen: inout Set<PDFObject.ID>) -> Bool {
    let resources = nodes[index].resources
    for object in painters(in: resources) {
      let dictionary = object.dictionary
      if dictionary["/Subtype"]?.name == "/Image" { return true }
      guard let id = object.id, seen.insert(id).inserted else { continue }
      if let known = known[id] {
        if known { return true }
        continue
      }
      // It has those of whatever paints it.
      guard let own = dictionary["/Resources"] else { return true }
      if add(own, of: [id], below: index, &nodes, &seen) { return true }
    }
    for font in entries("/Font", of: resources) {
      if let id = font.id, !seen.insert(id).inserted || known[id] == false { continue }
      for own in glyphResources(of: font) where add(own, of: [], below: index, &nodes, &seen) { return true }
    }
    return false
  }

  /// Whether resources are known to have images; else they are to be looked at.
  private func add(
    _ resources: PDFObject, of owner: [PDFObject.ID], below parent: Int, _ nodes: inout [Node],
    _ seen: inout Set<PDFObject.ID>
  ) -> Bool {
    var ids = owner
    if let id = resources.id {
      if let known = known[id] { return known }
      if !seen.insert(id).inserted { return false }
      ids.append(id)
    }
    nodes.append(Node(resources: resources, ids: ids, parent: parent))
    return false
  }

  /// Images, forms and patterns.
  private mutating func painters(in resources: PDFObject) -> [PDFObject] {
    let masks = entries("/ExtGState", of: resources).compactMap { $0["/SMask"]?["/G"] }
    return (entries("/XObject", of: resources) + entries("/Pattern", of: resources) + masks).filter(\.isStream)
  }

  /// The resources of the glyphs that are drawn by content, which may be of any size.
  mutating func glyphResources(of font: PDFObject) -> [PDFObject] {
    guard font["/Subtype"]?.name == "/Type3" else { return [] }
    let glyphs = entries("/CharProcs", of: font).compactMap { $0.isStream ? $0.dictionary["/Resources"] : nil }
    return (font["/Resources"].map { [$0] } ?? []) + glyphs
  }

  /// All images that these resources lead to; those that were found before need not be among them.
  mutating func images(from resources: PDFObject) -> [PDFObject] {
    var images: [PDFObject] = []
    var waiting = [resources]
    while let resources = waiting.popLast() {
      if let id = resources.id, !exhausted.insert(id).inserted { continue }
      for object in painters(in: resources) {
        guard let id = object.id, exhausted.insert(id).inserted else { continue }
        let dictionary = object.dictionary
        if dictionary["/Subtype"]?.name == "/Image" {
          images.append(object)
        } else if let own = dictionary["/Resources"] {
          waiting.append(own)
        }
      }
      for font in entries("/Font", of: resources) {
        if let id = font.id, !exhausted.insert(id).inserted { continue }
        waiting += glyphResources(of: font)
      }
    }
    return images
  }
}
