internal import Bytes
internal import Threads

/// Renewal of nodes when a source changes: see `Node`.
extension Tree {
  /// How often an operation on derived items is retried when the source changes meanwhile.
  static let attempts = 3

  /// Registers a handler for nodes whose attributes in the kernel's cache may be outdated; nil removes it.
  ///
  /// It is called before any reply that reflects the change, and must not call the tree.
  public func whenOutdated(_ tell: (@Sendable ([UInt64]) -> Void)?) {
    noteOutdated.replace(by: tell)
  }

  /// Calls `body` with a node's item in the present state of its source, and again if that changes meanwhile. Throws
  /// ESTALE, upon which the kernel repeats the lookup, when the node's name stands for something else by now.
  func present<Result>(
    _ node: Node, isDoubted: Bool = false, _ patience: Patience, _ body: (any Item) throws(Fault) -> Result
  ) throws(Fault) -> Result {
    if let file = node.item as? RealFile {
      return try byName(node, file) { (file) throws(Fault) in try body(file) }
    }
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

  /// Calls `body` with a real file by its first name; if that is another's by now, by the other names that it is known to have.
  func byName<Result: ~Copyable>(
    _ node: Node, _ file: RealFile, _ body: (RealFile) throws(Fault) -> Result
  ) throws(Fault) -> Result {
    do throws(Fault) { return try body(file) } catch {
      guard error.isAboutName else { throw error }
      for other in node.otherNames.reversed() {
        guard let folder = other.folder.item as? RealFolder else { continue }
        do throws(Fault) {
          let result = try body(file.named(other.name, in: folder))
          nodes.prefer(other, of: node)
          return result
        } catch { guard error.isAboutName else { throw error } }
      }
      throw error
    }
  }

  /// A node's item in the present state of its source; throws ESTALE when that is something else than before.
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

  /// The root in a source that was removed and made again; nil if `node` is not the root, or the source is not there.
  func reopenedRoot(_ node: Node) throws(Fault) -> RealFolder? {
    guard node === nodes.root, let folder = node.item as? RealFolder, folder.path.root.openAgain() else { return nil }
    let found = try RealFolder(root: folder.path.root)
    node.replace(found)
    noteOutdated([Self.root])
    return found
  }

  /// Looks up a node's name again in its folder, which may itself have to be renewed. The root has no state.
  private func renewed(_ node: Node, isDoubted: Bool, _ patience: Patience) throws(Fault) -> any Item {
    // A concealed item has no content that could survive a change.
    guard let parent = node.parent, !node.face.isConcealed else { throw .stale }
    _ = try present(parent, isDoubted: isDoubted, patience)
    guard let (found, _) = try find(node.name, in: parent, nil, patience) else { throw .stale }
    let identity = ItemIdentity(found.item)
    guard node.stands(for: found, identity) else { throw .stale }
    if node.take(found, identity) != nil { noteRenewal(of: node) }
    return found.item
  }

  /// A view shows another state of its source: what the kernel has cached of it and everything in it may be wrong,
  /// until the entries expire.
  func noteRenewal(of node: Node) {
    // Nodes inside a view are renewed along with its root.
    guard node.parent?.item.content == nil else { return }
    let nodes = [node] + (node.item.kind == .folder ? self.nodes.nodes(below: node) : [])
    for node in nodes { node.toldSize.noteInvalidation() }
    noteOutdated(nodes.map { UInt64($0.id) })
  }
}
