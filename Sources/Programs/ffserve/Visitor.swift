import Bytes
import FileTrees
import Glibc
import NIOHTTP1
import Tree

/// A client's view of the site: its account, and the addresses that it uses. All requests reach the tree through it, and
/// it alone decides what an account may do.
///
/// An item that an account may not read does not exist for it. Paths are checked as requested, and again with all links
/// resolved.
struct Visitor: Sendable {
  let site: Site
  let account: Account
  /// The directory that is the client's root.
  let root: [FileName]
  /// The part of the server's addresses before `/api` and `/dav`.
  let base: String
  /// Whether the client is on this machine, where the tree's paths are of use.
  let isLocal: Bool

  init(_ site: Site, _ account: Account, _ request: HTTPRequest) {
    self.site = site
    self.account = account
    root = account.root
    base = request.base
    isLocal = Network(request.peer).isLoopback && account.everywhere.contains(.read)
  }

  // MARK: Rights

  /// Returns the rights for a path without links.
  func rights(at names: [FileName]) -> Rights {
    let rights = account.rights(at: names)
    return site.tree.isWritable ? rights : rights.intersection(.read)
  }

  /// Whether the account may change anything.
  var canWrite: Bool {
    site.tree.isWritable && account.grants.contains { !$0.rights.isDisjoint(with: [.drop, .change]) }
  }

  /// Whether the account may read the whole tree.
  var seesEverything: Bool { account.everywhere.contains(.read) }

  /// Returns the response to a request that writes, if the tree is read-only. Otherwise returns `nil`.
  var refusalToWrite: Response? {
    if site.tree.isWritable { return nil }
    return .problem(
      .forbidden, "the tree is served read-only (start it with: ffmount serve -o rw)",
      headers: [("Allow", WebDAV.reading)])
  }

  /// Returns the error for an action that is not permitted.
  private func denial(at names: [FileName]) -> Fault {
    account.rights(at: names).contains(.read) || account.leads(to: names)
      ? Fault(.system(EACCES), "the account has no right to do this here") : .notFound
  }

  private func require(_ right: Rights, at names: [FileName]) throws(Fault) {
    guard rights(at: names).isSuperset(of: right) else { throw denial(at: names) }
  }

  // MARK: Reading

  /// Returns the file or directory at a path, of which the account may read everything, or only the names that lead to
  /// its grants. Blocks.
  func place(_ path: TreePath, followsLast: Bool = true) throws(Fault) -> ResolvedPath {
    let names = names(path)
    if names.contains(where: { TemporaryName.isOne($0.bytes) }) { throw .notFound }
    if seesEverything { return try site.place(names, followsLast: followsLast) }
    // An account without rights sees not even the root.
    guard sees(root) else { throw .notFound }
    var place = try site.place(root)
    // A symbolic link may have replaced the root.
    guard sees(place.names) else { throw .notFound }
    // The view of a file that is a grant of its own.
    var view: [FileName]?
    // Each step is checked before and after links are followed, so that no error reveals anything about hidden items.
    for count in root.count..<names.count {
      func isShown(_ names: [FileName]) -> Bool { sees(names) || view.map { names.starts(with: $0) } ?? false }
      let next = place.names + [names[count]]
      let file = isShown(next) ? nil : grantedFile(withView: next)
      guard file != nil || isShown(next) else { throw .notFound }
      place = try site.place(Array(names.prefix(count + 1)), followsLast: followsLast || count + 1 < names.count)
      if let file {
        guard try place.provenance(.blocking)?.source == file else { throw .notFound }
        view = place.names
      } else if !isShown(place.names) {
        throw .notFound
      }
    }
    return place
  }

  /// Returns the file or directory at a path, of which the account may read everything. Blocks.
  func whole(_ path: TreePath) throws(Fault) -> ResolvedPath {
    let place = try place(path)
    if !account.rights(at: place.names).contains(.read), account.leads(to: place.names) {
      throw Fault(.system(EACCES), "the account may read only parts of the folder")
    }
    return place
  }

  /// Returns whether the account may read an item, or its path leads to a grant.
  func sees(_ names: [FileName]) -> Bool {
    account.rights(at: names).contains(.read) || account.leads(to: names)
  }

  /// Returns the path, as text, of the file that is a grant of its own and could have a view of this name.
  private func grantedFile(withView names: [FileName]) -> String? {
    guard let name = names.last else { return nil }
    let grant = account.grants.first { grant in
      guard let file = grant.path.last, grant.rights.contains(.read) else { return false }
      return grant.path.dropLast() == names.dropLast() && name.bytes.starts(with: file.bytes + [UInt8(ascii: ".")])
    }
    return grant.map { String(TreePath(names: $0.path).text.dropFirst()) }
  }

  /// Calls `body` for the entries of a directory that the account may see, with their attributes or the fault of reading
  /// them. For a symbolic link, `target` has the item that it leads to, or is `nil` if there is none. Blocks.
  func eachEntry(
    of place: ResolvedPath, _ path: TreePath,
    _ body: (_ row: FolderRows.Row, _ found: Result<Attributes, Fault>, _ target: ResolvedPath?) throws(Fault) -> Void
  ) throws(Fault) {
    let isWhole = !account.leads(to: place.names) || account.rights(at: place.names).contains(.read)
    try FolderRows(place, site.library).each { (row, found) throws(Fault) in
      guard isWhole || sees(place.names + [row.name]) else { return }
      guard case .success(let attributes) = found, attributes.kind == .link else { return try body(row, found, nil) }
      let own = TreePath(names: path.names + [row.name])
      let target = try unlessDelayed { () throws(Fault) in try self.place(own) }
      // A link to a hidden item would reveal its path.
      if target != nil || seesEverything { try body(row, found, target) }
    }
  }

  // MARK: Changing

  /// The name that a request changes.
  struct Target: Sendable {
    /// The path in the tree, without links, except perhaps the last component.
    let names: [FileName]
    /// The existing item. Nil if there is none.
    let item: ResolvedPath?
  }

  /// Returns the target of a request that changes it, if the account may. Blocks.
  ///
  /// - Parameters:
  ///   - right: the required right.
  ///   - changesName: whether an existing item is removed or renamed, which changes its directory, too.
  ///   - followsLast: whether the target of a symbolic link is changed, instead of the link.
  func target(
    _ path: TreePath, for right: Rights, changesName: Bool = false, followsLast: Bool = true
  ) throws(Fault) -> Target {
    let names = names(path)
    try require(right, at: names)
    if let reason = site.reservation(of: names, isNew: right.contains(.drop)) {
      throw Fault(.system(EACCES), reason)
    }
    if account.everywhere.isSuperset(of: right) {
      if let item = try site.library.existing(names, followsLast: followsLast) {
        return Target(names: item.names, item: item)
      }
      // WebDAV locks apply to paths without links.
      guard let last = names.last, let folder = try site.library.existing(Array(names.dropLast())) else {
        return Target(names: names, item: nil)
      }
      return Target(names: folder.names + [last], item: nil)
    }
    var item: ResolvedPath?
    for count in 0...names.count {
      let follows = followsLast || count < names.count
      guard let next = try site.library.existing(Array(names.prefix(count)), followsLast: follows) else {
        // The directory that would contain it, and the missing names.
        let real = (item?.names ?? []) + names.dropFirst(count - 1)
        try require(right, at: real)
        try require(right, at: Array(real.dropLast()))
        return Target(names: real, item: nil)
      }
      // No error reveals anything about items to which a link leads.
      guard rights(at: next.names).isSuperset(of: right) || account.leads(to: next.names) else {
        throw denial(at: next.names)
      }
      item = next
    }
    let real = item?.names ?? names
    try require(right, at: real)
    if changesName { try require(right, at: Array(real.dropLast())) }
    return Target(names: real, item: item)
  }

  /// The maximum number of names that are tried for a file.
  private static let mostNames = 10_000

  /// Returns the target of a file that replaces an existing one if the account may. An account that may not even read it
  /// gets another name instead, so that nothing is revealed. Blocks.
  func upload(_ path: TreePath) throws(Fault) -> Target {
    let target = try target(path, for: .drop)
    let rights = rights(at: target.names)
    guard let item = target.item, !rights.contains(.change), let name = item.names.last else { return target }
    if rights.contains(.read) { throw denial(at: target.names) }
    let folder = Array(item.names.dropLast())
    let dot = name.bytes.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > name.bytes.startIndex ? $0 : nil }
    let stem = name.bytes.prefix(upTo: dot ?? name.bytes.endIndex)
    for number in 2..<Self.mostNames {
      let suffix = Array(" (\(number))".utf8) + name.bytes.suffix(from: dot ?? name.bytes.endIndex).suffix(128)
      let own = folder + [FileName(stem.prefix(255 - suffix.count) + suffix)]
      if try site.library.existing(own, followsLast: false) == nil { return Target(names: own, item: nil) }
    }
    throw Fault(.system(EEXIST))
  }

  // MARK: Addresses

  /// Returns the path in the tree.
  func names(_ path: TreePath) -> [FileName] { root.isEmpty ? path.names : root + path.names }

  /// Returns the path that the client uses for an item. Returns `nil` if it is not below the client's root.
  func path(of names: [FileName]) -> TreePath? {
    names.starts(with: root) ? TreePath(names: Array(names.dropFirst(root.count))) : nil
  }

  /// Returns the client's path of an item whose path in the tree is given as text, without leading slashes. Returns `nil`
  /// if it is not below the client's root.
  func shown(path: String) -> String? {
    if root.isEmpty { return path }
    let start = TreePath(names: root).text.dropFirst() + "/"
    return path.hasPrefix(start) ? String(path.dropFirst(start.count)) : nil
  }

  /// Returns the path on the server's machine for local users, and the client's own path for others.
  func absolute(_ path: TreePath) -> String { isLocal ? site.absolute(path) : path.text }

  /// The name of the client's root.
  var name: String {
    // The directory of a shared file is not shown.
    if account.share != nil, let shared = account.grants.first?.path.last { return shared.text }
    return root.last?.text ?? site.name
  }
}
