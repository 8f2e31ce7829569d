public import Bytes
internal import Synchronization
internal import Threads

/// What follows from a change through the mount: views of what was changed are looked up again, and other names of the
/// same file show it.
///
/// It is found, and the kernel told, on another thread and after the reply: the kernel may hold a lock until then that
/// being told takes.
extension Tree {
  /// Something that the kernel has to be told.
  public enum Consequence: Sendable, Hashable {
    /// What a name stands for may have changed.
    case name(FileName, folder: UInt64)
    /// The bytes and attributes of a node may have changed.
    case file(UInt64)
  }

  /// Registers a handler that is called when `consequences` are to be asked for; it must not wait.
  public func whenChanged(_ announce: @escaping @Sendable () -> Void) {
    writing?.announce.replace(by: announce)
  }

  /// What the kernel has to be told since the last call.
  public func consequences() -> Set<Consequence> {
    guard let writing else { return [] }
    let pending = writing.pending.withLock { pending in
      defer { pending = Writing.Pending() }
      return pending
    }
    var result = Set(pending.files.map { Consequence.file(UInt64($0)) })
    for touched in pending.names {
      guard var folder = try? nodes.node(UInt64(touched.folder)) else { continue }
      addViews(in: folder, madeFrom: touched.name, .file, to: &result)
      // Views of the folders around it.
      while let parent = folder.parent {
        addViews(in: parent, madeFrom: folder.name, .folder, to: &result)
        folder = parent
      }
    }
    return result
  }

  private func addViews(in folder: Node, madeFrom changed: FileName, _ kind: Kind, to result: inout Set<Consequence>) {
    for view in nodes.views(in: folder) where views.mayBe(view.name, madeFrom: changed, kind) {
      result.insert(.name(view.name, folder: UInt64(folder.id)))
      if view.item.kind == .file { result.insert(.file(UInt64(view.id))) }
    }
  }

  /// An entry of a real folder was made, changed or removed.
  func touch(_ name: FileName, in folder: Node) {
    guard let writing, nodes.hasViews else { return }
    writing.note { $0.names.insert(Writing.Touched(folder: folder.id, name: name)) }
  }

  /// A real file or its attributes were changed.
  func noteChange(of node: Node) {
    noteTwins(of: node)
    if let parent = node.parent { touch(node.name, in: parent) }
  }

  /// The same file under its other names.
  func noteTwins(of node: Node) {
    guard let writing, node.isLinked.load(ordering: .relaxed) else { return }
    let others = writing.linked.withLock { ($0[node.inode] ?? []).subtracting([node.id]) }
    if !others.isEmpty { writing.note { $0.files.formUnion(others) } }
  }

  /// A node's file has, or had, several names.
  func noteLinks(of node: Node) {
    guard let writing, !node.isLinked.exchange(true, ordering: .relaxed) else { return }
    writing.linked.withLock { linked in
      if linked.count.isMultiple(of: 1024) {
        linked = linked.filter { entry in
          entry.value.contains { (try? nodes.node(UInt64($0)))?.inode == entry.key }
        }
      }
      linked[node.inode, default: []].insert(node.id)
    }
  }
}

extension Views {
  /// Whether a view of this name may be made from a file or folder called `changed`, or from a view of that. Files that
  /// only differ in their last extensions may be made into one view: `a.z01` is a part of `a.zip`.
  func mayBe(_ name: FileName, madeFrom changed: FileName, _ kind: Kind) -> Bool {
    named(name).contains { view in
      view.requests(for: name).contains { request in
        let source = request.source
        if source == changed || view.sourceKind == .file && mayBe(source, madeFrom: changed, kind) { return true }
        return kind == .file && changed.bytes.starts(with: source.stem)
      }
    }
  }
}

extension FileName {
  /// The name up to its last dot, or with a dot if it has none.
  fileprivate var stem: [UInt8] {
    let dot = UInt8(ascii: ".")
    return bytes.lastIndex(of: dot).map { Array(bytes[...$0]) } ?? Array(bytes) + [dot]
  }
}
