internal import Bytes

/// Access checks for shared mounts: see `Secrecy`.
extension Tree {
  /// Whether `asker` has the permissions `wanted`, of read 4 and search 1, on an item. A nil `asker` means that nobody
  /// else sees the mount.
  func may(_ wanted: UInt16, _ item: any Item, _ attributes: Attributes, _ asker: Asker?) throws(Fault) -> Bool {
    guard let asker else { return true }
    return asker.may(wanted, overrides.applied(to: Face(attributes)), try shownList(of: item))
  }

  /// Whether `asker` may read what a node of a view shows, as of its lookup.
  func may(_ node: Node, _ asker: Asker?) throws(Fault) -> Bool {
    guard let asker else { return true }
    return asker.may(4, overrides.applied(to: node.face), try shownList(of: node.item))
  }

  /// Whether every user may: then the answer does not depend on the process.
  private func allMay(_ wanted: UInt16, _ item: any Item, _ attributes: Attributes) throws(Fault) -> Bool {
    let mode = overrides.applied(to: Face(attributes)).permissions
    guard mode & mode >> 3 & mode >> 6 & wanted == wanted else { return false }
    guard let list = try shownList(of: item) else { return true }
    return list.ofOwner & list.ofAllOthers & wanted == wanted
  }

  /// An item's access list as the mount shows it.
  func shownList(of item: any Item) throws(Fault) -> AccessList? { try item.accessList()?.less(overrides.umask) }

  private func secrecy(_ wanted: UInt16, _ item: any Item, _ attributes: Attributes, _ asker: Asker?) throws(Fault)
    -> Secrecy
  {
    guard asker != nil, try !allMay(wanted, item, attributes) else { return .none }
    return try may(wanted, item, attributes, asker) ? .guarded : .concealed
  }

  /// The view of a source, as far as `asker` may see it.
  func item(
    of view: any View, _ request: ViewRequest, _ source: Found, named name: FileName, in folder: Node,
    _ asker: Asker?, _ patience: Patience
  ) throws(Fault) -> Found? {
    var described = Source(item: source.item, attributes: source.attributes, name: name, folder: folder)
    guard asker != nil else { return try view.item(of: described, request, patience) }
    var secrecy = source.secrecy
    if secrecy != .concealed {
      // A view of a folder shows its names and what they lead to.
      let own = try self.secrecy(view.sourceKind == .folder ? 5 : 4, source.item, source.attributes, asker)
      if own != .none { secrecy = own }
    }
    described.isConcealed = secrecy == .concealed
    guard var found = try view.item(of: described, request, patience) else { return nil }
    if found.attributes.kind == .file, !described.isConcealed {
      // A view made from several files may have stricter permissions than its source.
      let own = try self.secrecy(4, found.item, found.attributes, asker)
      if own != .none { secrecy = own }
      if own == .concealed {
        described.isConcealed = true
        guard let concealed = try view.item(of: described, request, patience) else { return nil }
        found = concealed
      }
    }
    found.secrecy = secrecy
    return found
  }
}
