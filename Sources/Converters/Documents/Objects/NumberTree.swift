/// A number tree (ISO 32000-1, 7.9.7), whose nodes are read on demand, once each.
final class NumberTree {
  private struct Node {
    /// The kids, in the order of their numbers.
    var kids: [(first: Int, last: Int, id: PDFObject.ID)] = []
    /// The text for each number.
    var values: [Int: [UInt8]] = [:]
  }

  private let objects: ObjectCache
  private let text: ObjectText
  private var root: Node?
  private var nodes: [PDFObject.ID: Node] = [:]
  private var count = 0

  /// The maximum number of values that are cached for the next lookup.
  private static let mostKept = 1 << 17
  /// The maximum number of values in a tree. More mean a loop or damage.
  private static let mostValues = 1 << 20
  private static let deepest = 32

  /// - Parameter text: the root node, or a reference to it.
  init(_ text: [UInt8], _ objects: ObjectCache) {
    self.objects = objects
    self.text = objects.resolved(text[...])
  }

  func value(of number: Int) -> [UInt8]? {
    if count > Self.mostKept { (nodes, count) = ([:], 0) }
    var node = top
    for _ in 0..<Self.deepest {
      if let value = node.values[number] { return value }
      guard let kid = node.kids.first(where: { $0.first <= number && number <= $0.last }) else { return nil }
      node = self.node(kid.id)
    }
    return nil
  }

  /// All numbers with their values, in ascending order.
  var all: [(number: Int, value: [UInt8])] {
    var found: [Int: [UInt8]] = [:]
    var seen: Set<PDFObject.ID> = []
    var waiting = [top]
    while let node = waiting.popLast(), found.count < Self.mostValues {
      found.merge(node.values) { first, _ in first }
      for kid in node.kids where seen.insert(kid.id).inserted { waiting.append(self.node(kid.id)) }
    }
    return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  private var top: Node {
    if let root { return root }
    let node = node(text)
    root = node
    return node
  }

  private func node(_ id: PDFObject.ID) -> Node {
    if let known = nodes[id] { return known }
    let node = node(objects.object(id).text)
    nodes[id] = node
    count += node.values.count + node.kids.count
    return node
  }

  private func node(_ text: ObjectText) -> Node {
    var node = Node()
    for kid in text.value(of: "/Kids").map({ objects.resolved($0).references }) ?? [] {
      let limits = objects.items(of: objects.object(kid.id).text, "/Limits").compactMap(Self.number)
      node.kids.append((limits.first ?? .min, limits.count == 2 ? limits[1] : .max, kid.id))
    }
    let items = objects.items(of: text, "/Nums")
    for index in stride(from: 0, to: items.count - 1, by: 2) {
      if let number = Self.number(items[index]) { node.values[number] = Array(items[index + 1]) }
    }
    return node
  }

  private static func number(_ text: ArraySlice<UInt8>) -> Int? { Int(String(decoding: text, as: UTF8.self)) }
}
