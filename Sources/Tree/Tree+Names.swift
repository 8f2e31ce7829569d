public import Bytes
internal import Glibc

/// The names in a directory: its own and those of views.
extension Tree {
  /// Looks up a name in a directory and adds a lookup, which `forget` removes. Throws ENOENT if the name does not
  /// exist. `caller` is `nil` if no other user sees the mount.
  public func lookUp(
    _ name: FileName, in parent: UInt64, for caller: Credentials? = nil, _ blocking: BlockingMode
  ) throws(Fault) -> Entry {
    if keepsHandles, name == "." || name == ".." { return try lookUpAgain(parent, isParent: name == "..", blocking) }
    let folder = try node(parent, blocking)
    try followFolders(above: parent, for: caller)
    let found = try steady(blocking) { () throws(Fault) in
      try present(folder, blocking) { (item) throws(Fault) in
        try check(1, folder, item, for: caller, blocking)
        return try find(name, in: folder, caller, blocking)
      }
    }
    guard let (found, depth) = found else {
      // The source may have been removed and created again.
      if folder === nodes.root, try reopenedRoot(folder) != nil {
        return try lookUp(name, in: parent, for: caller, blocking)
      }
      throw .notFound
    }
    var entry = try entry(found, depth, name, in: folder)
    // A process that needs the size of a single name requests the attributes separately. That request shows their
    // purpose.
    if found.attributes.isPreliminary { entry.attributesLifetime = 0 }
    return entry
  }

  /// Returns whether the kernel may cache for `volatileLifetime` that a name does not exist. In a writable mount, programs
  /// often ask for a name before they create it. False if a view may have the name, since a view appears together with
  /// its source.
  public func mayRemember(absent name: FileName, in parent: UInt64) -> Bool {
    guard writing != nil, views.named(name).isEmpty, let folder = nodes.present(parent) else { return false }
    if distant(folder) != nil { return false }
    return folder.item is RealFolder && !(folder === nodes.root && name.bytes.first == UInt8(ascii: "."))
  }

  /// Returns the node of an ID, or its parent, for an NFS server that has only the ID.
  private func lookUpAgain(_ id: UInt64, isParent: Bool, _ blocking: BlockingMode) throws(Fault) -> Entry {
    let found = try node(id, blocking)
    let wanted = isParent ? found.parent.map { UInt64($0.id) } ?? Self.root : id
    let node = try nodes.lookUpAgain(wanted)
    do throws(Fault) {
      let attributes = try attributes(wanted, blocking).0
      return Entry(
        node: wanted, generation: node.generation, attributes: attributes, lifetime: 0, attributesLifetime: 0)
    } catch {
      forget(wanted, 1)
      throw error
    }
  }

  func entry(_ found: LookupResult, _ depth: Int, _ name: FileName, in folder: Node) throws(Fault) -> Entry {
    let (node, isRenewed) = try nodes.lookUp(folder, name, found, depth: depth)
    if isRenewed { noteRenewal(of: node) }
    noteTold(found.attributes, of: node, isReply: true)
    return Entry(
      node: UInt64(node.id), generation: node.generation,
      attributes: overrides.applied(to: node.shown(found.attributes)),
      lifetime: lifetime(ofNameOf: node, found.secrecy),
      attributesLifetime: lifetime(of: found.attributes, node))
  }

  /// Returns the item under a name and its nesting depth in archives. Real items take precedence over views.
  func find(
    _ name: FileName, in folder: Node, _ caller: Credentials?, _ blocking: BlockingMode
  ) throws(Fault) -> (LookupResult, depth: Int)? {
    do throws(Fault) {
      if let found = try child(named: name, of: folder, blocking) { return (found, folder.depth) }
    } catch {
      // No real file has the name. A view of a file may have one, for those that do not list it.
      guard error.kind == .system(ENAMETOOLONG), !views.named(name).isEmpty else { throw error }
    }
    if folder === nodes.root, name.bytes.first == 0x2e, let found = try rootItem(named: name) {
      return (found, folder.depth + 1)
    }
    let candidates = views.named(name)
    if !candidates.isEmpty, wasJustRemoved(name, from: folder) { return nil }
    for view in candidates {
      guard let (request, source, depth) = try source(view.requests(for: name), in: folder, caller, blocking),
        source.attributes.kind == view.sourceKind
      else { continue }
      let found = try item(of: view, request, source, named: request.source, in: folder, caller, blocking)
      if let found { return (found, depth + 1) }
    }
    return nil
  }

  /// Returns whether a real file or directory of this name was removed so recently that no view has the name yet.
  private func wasJustRemoved(_ name: FileName, from folder: Node) -> Bool {
    writing?.wasJustRemoved(name, from: folder.inode) ?? false
  }

  /// Returns the entry of a directory that is not a view of this tree. Returns `nil` for a view in another mount of
  /// ffmount beside its source, if this tree has its own.
  private func child(
    named name: FileName, of folder: Node, _ blocking: BlockingMode
  ) throws(Fault) -> LookupResult? {
    guard let found = try folder.item.child(named: name, blocking) else { return nil }
    guard hasOwnViewsOnly, let real = folder.item as? RealFolder else { return found }
    return try real.isViewBesideSource(name, found.attributes.inode) ? nil : found
  }

  /// Returns the first request whose source exists, with that source.
  private func source(
    _ requests: [ViewRequest], in folder: Node, _ caller: Credentials?, _ blocking: BlockingMode
  ) throws(Fault) -> (ViewRequest, LookupResult, depth: Int)? {
    guard let last = requests.last else { return nil }
    for request in requests.dropLast() {
      if let found = try child(named: request.source, of: folder, blocking) { return (request, found, folder.depth) }
    }
    // The source may be a view itself. Each step shortens the name, so the recursion ends.
    return try find(last.source, in: folder, caller, blocking).map { (last, $0.0, $0.depth) }
  }

  /// Returns the views that a listing shows beside a file of `folder`. Omits views whose name is a real file's. `find`
  /// looks the file up if its content is needed.
  func listedViews(
    beside listed: ListedName, in folder: Node, _ caller: Credentials?, _ blocking: BlockingMode,
    _ find: (FileName) throws(Fault) -> LookupResult?
  ) throws(Fault) -> [ListedView] {
    let fileExtension = listed.fileExtension
    let candidates = fileExtension.map { views.listed(beside: $0) } ?? []
    // This decides for most files.
    if fileExtension != nil, candidates.isEmpty { return [] }
    guard folder.depth < views.depth, folder.item.listsViews else { return [] }
    var shown: [any View]
    let name = listed.fileName
    if fileExtension != nil {
      shown = []
      for view in candidates
      where views.listing.shows(view, beside: name, in: folder.item) && view.isListed(beside: name) {
        var isOurs = true
        for rival in view.alternatives(of: name) where isOurs {
          isOurs = try folder.item.child(named: rival, blocking) == nil
        }
        if isOurs { shown.append(view) }
      }
    } else {
      guard views.listing.preset != .none, let found = try find(name), found.attributes.kind == .file,
        found.attributes.size > 0, try may(4, found.item, found.attributes, caller)
      else { return [] }
      let chosen = try sniffed.views(of: found, blocking) { head in
        views.all.indices.filter { views.all[$0].isListed(besideFileStartingWith: head) }
      }
      shown = chosen.map { views.all[$0] }.filter { views.listing.shows($0, beside: name, in: folder.item) }
    }
    return try free(shown, of: name, in: folder, blocking)
  }

  /// Returns the views that a listing shows beside a directory. Shows none to a caller that may not read and search the
  /// directory.
  func listedViews(
    besideFolder name: FileName, in folder: Node, _ caller: Credentials?, _ blocking: BlockingMode
  ) throws(Fault) -> [ListedView] {
    guard folder.depth < views.depth, folder.item.listsViews else { return [] }
    var shown: [any View] = []
    for view in views.listedBesideFolders where views.listing.shows(view, beside: name, in: folder.item) {
      let isNamed = name.fileExtension.map { view.folderExtensions.contains($0) } ?? false
      if !isNamed {
        guard !view.markers.isEmpty, try folder.item.hasFolders(view.markers, in: name, blocking) else { continue }
      }
      if caller != nil {
        guard let found = try folder.item.child(named: name, blocking),
          try may(5, found.item, found.attributes, caller)
        else { continue }
      }
      shown.append(view)
    }
    return try free(shown, of: name, in: folder, blocking)
  }

  /// Returns the views of `name` whose own names are short enough and not taken by an entry of the directory.
  private func free(
    _ shown: [any View], of name: FileName, in folder: Node, _ blocking: BlockingMode
  ) throws(Fault) -> [ListedView] {
    var free: [ListedView] = []
    for view in shown {
      let listed = ListedView(name: view.listedName(beside: name), view: view, file: name)
      guard listed.name.count <= 255, try folder.item.child(named: listed.name, blocking) == nil,
        !wasJustRemoved(listed.name, from: folder)
      else { continue }
      free.append(listed)
    }
    return free
  }

  /// Returns the item of a listed view, given its source. Returns `nil` if the view does not exist after all.
  func find(
    _ listed: ListedView, of source: LookupResult, in folder: Node, _ caller: Credentials?, _ blocking: BlockingMode
  ) throws(Fault) -> LookupResult? {
    guard source.attributes.kind == listed.view.sourceKind else { return nil }
    let request = listed.view.listedRequest(beside: listed.file)
    return try item(of: listed.view, request, source, named: listed.file, in: folder, caller, blocking)
  }
}
