internal import Bytes

/// Nodes of an earlier process, which are found again by their names when they are asked for.
extension Tree {
  /// The node of an id. Throws ESTALE if there is none, or if its name stands for something else by now: then the kernel
  /// looks the name up again.
  func node(_ id: UInt64, _ patience: Patience) throws(Fault) -> Node {
    // From the first folder on the way that is known: a path may be longer than a stack is deep.
    var missing: [UInt64] = []
    var next = id
    var known = nodes.known(id)
    while case .inherited(let record) = known {
      // What was shown to somebody who may not read it was shown to him alone.
      guard !record.isNameless, !record.isConcealed, missing.count < Self.longestWay else { throw .stale }
      missing.append(next)
      next = UInt64(record.parent)
      known = nodes.known(next)
    }
    guard case .present(var node) = known else { throw .stale }
    while let next = missing.popLast() {
      let record: NodeLedger.Record
      switch nodes.known(next) {
      case .inherited(let recorded): record = recorded
      case .present(let known):
        // Another thread was faster.
        node = known
        continue
      case .unknown: throw .stale
      }
      let found = try steady(patience) { () throws(Fault) in
        try present(node, patience) { (_) throws(Fault) in try find(record.name, in: node, nil, patience) }
      }
      guard let (found, depth) = found else { throw .stale }
      node = try nodes.adopt(next, in: node, found, depth: depth)
    }
    return node
  }

  /// In names: more than a path of 4,096 bytes has.
  private static let longestWay = 4096
}
