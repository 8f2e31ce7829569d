package import Bytes

extension Source {
  /// The directory that contains it.
  package var folderSource: Source? {
    guard let attributes = try? folder.item.attributes(.blocking) else { return nil }
    return entry(
      LookupResult(folder.item, attributes), named: folder.name,
      in: folder.parent ?? Node(id: 0, generation: 0, parent: nil, name: "", item: folder.item, depth: 0, face: .none))
  }

  /// Returns the entry of this directory with a name. Returns `nil` if it does not exist.
  package func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> Source? {
    try item.child(named: name, blocking).map { entry($0, named: name, in: asFolder) }
  }

  /// Returns another item as a source, which is checked as often as this one.
  fileprivate func entry(_ found: LookupResult, named name: FileName, in folder: Node) -> Source {
    var source = Source(item: found.item, attributes: found.attributes, name: name, folder: folder)
    source.isCheckedAlways = isCheckedAlways
    source.decryption = decryption
    return source
  }
}

extension Tree {
  /// Returns the item at a path below a directory, which may pass through views. Returns `nil` if it does not exist. The
  /// caller has all permissions. Blocks.
  package func found(at path: [FileName], below folder: Source) throws(Fault) -> Source? {
    var source = folder
    var depth = 0
    for name in path {
      guard source.attributes.kind == .folder else { return nil }
      let node = Node(
        id: 0, generation: 0, parent: source.folder, name: source.name, item: source.item, depth: depth, face: .none)
      guard let (found, inner) = try find(name, in: node, nil, .blocking) else { return nil }
      source = source.entry(found, named: name, in: node)
      depth = inner
    }
    return source
  }

  /// The root directory as a source of views.
  private var rootSource: Source? {
    guard let attributes = try? nodes.root.item.attributes(.blocking) else { return nil }
    var source = Source(item: nodes.root.item, attributes: attributes, name: "", folder: nodes.root)
    source.isCheckedAlways = isShared || writing != nil
    source.decryption = views.decryption
    return source
  }

  /// Returns the view of the root directory itself with a name. Returns `nil` if there is none.
  func rootItem(named name: FileName) throws(Fault) -> LookupResult? {
    guard let source = rootSource else { return nil }
    for view in views.all {
      if let found = try view.rootItem(named: name, in: source) { return found }
    }
    return nil
  }
}
