/// Finds the images reachable from resources: directly, and through forms, patterns, soft masks and glyphs.
struct ResourceSearch {
  /// Whether each visited resource or form leads to images.
  private var known: [PDFObject.ID: Bool] = [:]
  /// Objects whose images have all been returned.
  private var exhausted: Set<PDFObject.ID> = []
  private var steps = 0
  /// Whether all keys could be looked up.
  private(set) var isComplete = true

  /// The maximum number of steps. After that, anything is assumed to lead to images.
  private static let mostSteps = 1 << 20

  private struct Node {
    let resources: PDFObject
    let ids: [PDFObject.ID]
    let parent: Int?
  }

  /// Returns the values of a dictionary inside a dictionary.
  mutating func entries(_ key: String, of resources: PDFObject) -> [PDFObject] {
    guard let dictionary = resources[key] else { return [] }
    let keys = dictionary.keys
    steps += 1 + keys.count
    return keys.compactMap { key in
      let value = dictionary[key]
      // The key was not UTF-8.
      if value == nil, key.unicodeScalars.contains("\u{FFFD}") { isComplete = false }
      return value
    }
  }

  /// Returns whether content with these resources may paint images. Resources may be cyclic.
  mutating func leadsToImages(_ resources: PDFObject) -> Bool {
    if let id = resources.id, let known = known[id] { return known }
    let ids = resources.id.map { [$0] } ?? []
    var nodes = [Node(resources: resources, ids: ids, parent: nil)]
    var seen = Set(ids)
    var next = 0
    while next < nodes.count {
      if steps > Self.mostSteps || hasImages(next, &nodes, &seen) {
        // The nodes on the path to this one lead to images, too.
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

  /// Returns whether a node has images itself. If not, appends the nodes it leads to.
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
      // A form without resources uses those of its caller.
      guard let own = dictionary["/Resources"] else { return true }
      if add(own, of: [id], below: index, &nodes, &seen) { return true }
    }
    for font in entries("/Font", of: resources) {
      if let id = font.id, !seen.insert(id).inserted || known[id] == false { continue }
      for own in glyphResources(of: font) where add(own, of: [], below: index, &nodes, &seen) { return true }
    }
    return false
  }

  /// Returns whether resources are known to have images. If not, appends them to be visited.
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

  /// Returns the images, forms, patterns and soft masks in resources.
  private mutating func painters(in resources: PDFObject) -> [PDFObject] {
    let masks = entries("/ExtGState", of: resources).compactMap { $0["/SMask"]?["/G"] }
    return (entries("/XObject", of: resources) + entries("/Pattern", of: resources) + masks).filter(\.isStream)
  }

  /// Returns the resources of glyphs defined by content streams, which may be painted at any size.
  mutating func glyphResources(of font: PDFObject) -> [PDFObject] {
    guard font["/Subtype"]?.name == "/Type3" else { return [] }
    let glyphs = entries("/CharProcs", of: font).compactMap { $0.isStream ? $0.dictionary["/Resources"] : nil }
    return (font["/Resources"].map { [$0] } ?? []) + glyphs
  }

  /// Returns all images that these resources lead to. Images returned earlier may be missing.
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
