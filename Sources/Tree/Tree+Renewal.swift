internal import Bytes
internal import Synchronization

/// What becomes of nodes when a source changes: see `Node`.
extension Tree {
  /// So often a source may change while something is done with what is made of it.
  static let attempts = 3

  /// Has somebody told of nodes of which the kernel may have attributes that are not theirs any more; nil: nobody.
  ///
  /// He is told before anything is answered about the change, and must not ask the tree.
  public func whenOutdated(_ tell: (@Sendable ([UInt64]) -> Void)?) {
    noteOutdated.withLock { $0 = tell ?? { _ in } }
  }

  /// Does something with what a node stands for in the present state of its source; anew, when that changes meanwhile.
  /// ESTALE, at which the kernel looks the path up again, when the node's name stands for something else by now.
  func present<Result>(
    _ node: Node, isDoubted: Bool = false, _ patience: Patience, _ body: (any Item) throws(Fault) -> Result
  ) throws(Fault) -> Result {
    var attempt = 1
    while true {
      do throws(Fault) { return try body(present(node, isDoubted: isDoubted || attempt > 1, patience)) } catch {
        guard error.isOfEarlierState, node.item.content != nil, attempt < Self.attempts else {
          throw error.kind == .changed ? .stale : error
        }
        attempt += 1
      }
    }
  }

  /// What a node stands for in the present state of its source; ESTALE when that is something else than it was.
  func present(_ node: Node, isDoubted: Bool = false, _ patience: Patience) throws(Fault) -> any Item {
    let item = node.item
    do throws(Fault) {
      try item.checkCurrent(isDoubted: isDoubted, patience)
      return item
    } catch {
      guard error.kind == Fault.stale.kind, item.content != nil else { throw error }
      return try renewed(node, isDoubted: isDoubted, patience)
    }
  }

  /// Finds what has a node's name in its folder, which may have to be found first. The root is not of any state.
  private func renewed(_ node: Node, isDoubted: Bool, _ patience: Patience) throws(Fault) -> any Item {
    // What is shown to who may not read the source tells nothing that could outlive a change.
    guard let parent = node.parent, !node.face.isConcealed else { throw .stale }
    _ = try present(parent, isDoubted: isDoubted, patience)
    guard let (found, _) = try find(node.name, in: parent, nil, patience), node.stands(for: found) else {
      throw .stale
    }
    if node.take(found) != nil { noteRenewal(of: node) }
    return found.item
  }

  /// A view has come to show another state of its source: what the kernel knows of all that is in it may be wrong now, and is
  /// for as long as it may believe it.
  func noteRenewal(of node: Node) {
    // What is within a view is reached by way of it.
    guard node.parent?.item.content == nil else { return }
    let nodes = [node] + (node.item.kind == .folder ? self.nodes.nodes(below: node) : [])
    for node in nodes { node.toldSize.noteInvalidation() }
    noteOutdated.withLock { $0 }(nodes.map { UInt64($0.id) })
  }
}
