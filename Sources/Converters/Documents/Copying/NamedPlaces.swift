/// The named destinations of a document (ISO 32000-1, 12.3.2.3): those in the name tree, which are strings, and those
/// in `/Dests`, which are names.
///
/// Only the tree nodes on the path to a name are read, once each.
final class NamedPlaces {
  private struct Node {
    /// The kids, in the order of their names.
    var kids: [(first: [UInt8], last: [UInt8], id: PDFObject.ID)] = []
    /// The kids without limits.
    var others: [PDFObject.ID] = []
    /// The destinations by name, as text in the document, which is usually a reference.
    var places: [[UInt8]: [UInt8]] = [:]
  }

  private let objects: ObjectCache
  private var root: Node?
  private var nodes: [PDFObject.ID: Node] = [:]
  /// The total number of names in `nodes`.
  private var count = 0
  /// The entries of `/Dests`, by their names with the slash.
  private var old: [[UInt8]: [UInt8]] = [:]
  private let tree: [UInt8]?
  private let dictionary: [UInt8]?

  /// The maximum number of names that are cached for the next page.
  private static let mostNames = 1 << 17

  /// - Parameter catalog: the document's catalog.
  init(_ catalog: PDFObject, _ objects: ObjectCache) {
    self.objects = objects
    tree = catalog["/Names"]?["/Dests"]?.text
    dictionary = catalog["/Dests"]?.text
  }

  /// Returns the names that are destinations on these pages, in name tree order.
  ///
  /// - Parameter names: strings and names in PDF syntax.
  func places(
    _ names: Set<[UInt8]>, on pages: Set<PDFObject.ID>
  ) -> [(name: [UInt8], place: ObjectText)] {
    var found: [(key: [UInt8], name: [UInt8], place: ObjectText)] = []
    if root == nil { read() }
    for name in names {
      guard let key = name.first == 0x2F ? Array(name.dropFirst()) : ObjectText.string(name[...]),
        let text = place(key)
      else { continue }
      let place = ObjectText(text)
      if let page = page(of: place), pages.contains(page) { found.append((key, name, place)) }
    }
    if count > NamedPlaces.mostNames {
      nodes = [:]
      count = 0
    }
    // A string can be written in two ways.
    found.sort { $0.key == $1.key ? $0.name < $1.name : $0.key < $1.key }
    return found.indices.filter { $0 == 0 || found[$0].key != found[$0 - 1].key || found[$0].name.first == 0x2F }
      .map { (found[$0].name, found[$0].place) }
  }

  private func read() {
    root = tree.map { node(objects.resolved($0[...])) } ?? Node()
    guard let text = dictionary.map({ objects.resolved($0[...]) }) else { return }
    old = Dictionary(text.entries.map { (Array(text.bytes[$0.key]), Array(text.bytes[$0.value])) }) { first, _ in first
    }
  }

  /// Returns the destination of a name. Like other readers, searches both the tree and the dictionary for either kind
  /// of name.
  private func place(_ key: [UInt8]) -> [UInt8]? {
    // A tree may have loops.
    var seen: Set<PDFObject.ID> = []
    var waiting: [PDFObject.ID] = []
    var next = root
    while let node = next {
      if let place = node.places[key] { return place }
      waiting += node.others.reversed()
      let after = node.kids.partitioningIndex { key < $0.first }
      if after > 0, !(node.kids[after - 1].last < key) { waiting.append(node.kids[after - 1].id) }
      next = nil
      while next == nil, let id = waiting.popLast() { next = seen.insert(id).inserted ? self.node(id) : nil }
    }
    return old[[0x2F] + key]
  }

  private func node(_ id: PDFObject.ID) -> Node {
    if let known = nodes[id] { return known }
    let node = node(objects.object(id).text)
    nodes[id] = node
    count += node.places.count + node.kids.count + node.others.count
    return node
  }

  private func node(_ text: ObjectText) -> Node {
    var node = Node()
    for kid in text.value(of: "/Kids").map({ objects.resolved($0).references }) ?? [] {
      let limits = objects.items(of: objects.object(kid.id).text, "/Limits").map(ObjectText.string)
      guard limits.count == 2, let first = limits[0], let last = limits[1] else {
        node.others.append(kid.id)
        continue
      }
      node.kids.append((first, last, kid.id))
    }
    node.kids.sort { $0.first < $1.first }
    let names = objects.items(of: text, "/Names")
    for index in stride(from: 0, to: names.count - 1, by: 2) {
      if let key = ObjectText.string(names[index]) { node.places[key] = Array(names[index + 1]) }
    }
    return node
  }

  /// Returns the page of a destination: the first reference in its array.
  private func page(of place: ObjectText) -> PDFObject.ID? {
    var text = place
    // The array may be the value of `/D`; each may be an indirect object.
    for _ in 0..<4 {
      if text.bytes.first == 0x5B { return text.references.first?.id }
      if let inner = text.value(of: "/D") {
        text = ObjectText(Array(inner))
      } else if let reference = text.references.first, reference.range == text.bytes.indices {
        text = objects.object(reference.id).text
      } else {
        return nil
      }
    }
    return nil
  }
}

private func < (one: [UInt8], other: [UInt8]) -> Bool { one.lexicographicallyPrecedes(other) }

extension Array {
  /// Returns the first index for which `isLater` holds, in an array partitioned by it. Returns the count if there is
  /// none.
  fileprivate func partitioningIndex(_ isLater: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isLater(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
