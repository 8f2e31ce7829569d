internal import Bytes

/// Nodes of an earlier process, found again by name when they are first used.
extension Tree {
  /// Returns the node with this ID. Throws ESTALE if it does not exist or its name now belongs to another item. The
  /// kernel then looks the name up again.
  func node(_ id: UInt64, _ blocking: BlockingMode) throws(Fault) -> Node {
    // Iterates from the nearest known ancestor: a path may be too deep for recursion.
    var missing: [UInt64] = []
    var next = id
    var known = nodes.known(id)
    while case .inherited(let record) = known {
      // A concealed node was shown only to the process that looked it up.
      guard !record.isNameless, !record.isConcealed, missing.count < Self.longestWay else { throw .stale }
      missing.append(next)
      next = UInt64(record.parent)
      known = nodes.known(next)
    }
    guard case .present(var node) = known else { throw .stale }
    while let next = missing.popLast() {
      let record: PersistentNodeTable.Record
      switch nodes.known(next) {
      case .inherited(let recorded): record = recorded
      case .present(let known):
        // Another thread has already found it.
        node = known
        continue
      case .unknown: throw .stale
      }
      let found = try steady(blocking) { () throws(Fault) in
        try present(node, blocking) { (_) throws(Fault) in try find(record.name, in: node, nil, blocking) }
      }
      guard let (found, depth) = found else { throw .stale }
      node = try nodes.adopt(next, in: node, found, depth: depth)
    }
    return node
  }

  /// The maximum number of names on a path. A path of 4,096 bytes has fewer.
  private static let longestWay = 4096
}
