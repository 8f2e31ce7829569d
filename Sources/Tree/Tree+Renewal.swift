internal import Bytes
internal import Threads

/// Renewal of nodes after a source has changed: see `Node`.
extension Tree {
  /// The maximum number of attempts of an operation on derived items whose source changes meanwhile.
  static let attempts = 3

  /// Registers a handler for nodes whose attributes in the kernel's cache may be outdated. `nil` removes it.
  ///
  /// The handler is called before any reply that reflects the change. It must not call the tree.
  public func whenOutdated(_ tell: (@Sendable ([UInt64]) -> Void)?) {
    noteOutdated.replace(by: tell)
  }

  /// Calls `body` with a node's item in the current state of its source. Retries if that changes meanwhile. Throws
  /// ESTALE if the node's name now belongs to another item. The kernel then repeats the lookup.
  func present<Result>(
    _ node: Node, isDoubted: Bool = false, _ blocking: BlockingMode, _ body: (any Item) throws(Fault) -> Result
  ) throws(Fault) -> Result {
    if let file = node.item as? RealFile {
      return try byName(node, file) { (file) throws(Fault) in try body(file) }
    }
    var attempt = 1
    while true {
      do throws(Fault) { return try body(present(node, isDoubted: isDoubted || attempt > 1, blocking)) } catch {
        guard error.isOfEarlierState, node.item.content != nil, attempt < Self.attempts else {
          throw error.kind == .changed ? .stale : error
        }
        attempt += 1
      }
    }
  }

  /// Calls `body` with a real file by its first name. If that now belongs to another file, tries the other known names.
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

  /// Returns a node's item in the current state of its source. Throws ESTALE if it is no longer the same item.
  func present(_ node: Node, isDoubted: Bool = false, _ blocking: BlockingMode) throws(Fault) -> any Item {
    let item = node.item
    do throws(Fault) {
      try item.checkCurrent(isDoubted: isDoubted, blocking)
      return item
    } catch {
      guard error.kind == Fault.stale.kind, item.content != nil else { throw error }
      return try renewed(node, isDoubted: isDoubted, blocking)
    }
  }

  /// Returns the root of a source that was removed and created again. Returns `nil` if `node` is not the root, or if
  /// the source does not exist.
  func reopenedRoot(_ node: Node) throws(Fault) -> RealFolder? {
    guard node === nodes.root, let folder = node.item as? RealFolder, folder.path.root.openAgain() else { return nil }
    let found = try RealFolder(root: folder.path.root)
    node.replace(found)
    noteOutdated([Self.root])
    return found
  }

  /// Looks up a node's name again in its directory, which may also have to be renewed. Throws ESTALE for the root.
  private func renewed(_ node: Node, isDoubted: Bool, _ blocking: BlockingMode) throws(Fault) -> any Item {
    // A concealed item has no content that could survive a change.
    guard let parent = node.parent, !node.face.isConcealed else { throw .stale }
    _ = try present(parent, isDoubted: isDoubted, blocking)
    guard let (found, _) = try find(node.name, in: parent, nil, blocking) else { throw .stale }
    let identity = ItemIdentity(found.item)
    guard node.stands(for: found, identity) else { throw .stale }
    if node.take(found, identity) != nil { noteRenewal(of: node) }
    return found.item
  }

  /// Reports that a view shows another state of its source. The kernel's cache of the view and everything in it may be
  /// wrong until the entries expire.
  func noteRenewal(of node: Node) {
    // Nodes inside a view are renewed along with its root.
    guard node.parent?.item.content == nil else { return }
    let nodes = [node] + (node.item.kind == .folder ? self.nodes.nodes(below: node) : [])
    for node in nodes { node.toldSize.noteInvalidation() }
    noteOutdated(nodes.map { UInt64($0.id) })
  }
}
