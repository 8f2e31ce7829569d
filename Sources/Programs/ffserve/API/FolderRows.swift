import Bytes
import FileTrees
import Tree

/// The entries of a directory with their attributes.
struct FolderRows {
  struct Row {
    let listed: ListedName
    let kind: Kind
    /// The kind of view, for a view.
    let view: String?

    var name: FileName { listed.fileName }
  }

  private let place: ResolvedPath
  /// The tree that removes items which are not complete. Nil if they stay.
  private let library: FileTree?
  /// The maximum number of entries. A larger listing would take too much memory and is of no use to a user.
  static let most = 200_000

  init(_ place: ResolvedPath, _ library: FileTree?) {
    self.place = place
    self.library = library
  }

  /// Calls `body` for each entry except `.`, `..` and items that are not complete, with its attributes or the fault of
  /// reading them. Blocks. Removes items that another process has left. Skips entries that have been removed in the
  /// meantime.
  func each(_ body: (Row, Result<Attributes, Fault>) throws(Fault) -> Void) throws(Fault) {
    let reader = try place.tree.openFolder(place.node, .blocking)
    var cookie: UInt64 = 0
    var count = 0
    var fault: Fault?
    var isPassed = true
    var temporary: [FileName] = []
    defer { for name in temporary { library?.removeLeftover(name, in: place) } }
    while true {
      let before = cookie
      try reader.readAttributes(after: cookie, .blocking) { (row, attributes) throws(Fault) in
        // A row whose attributes throw is offered again.
        defer { if isPassed { cookie = row.cookie } }
        isPassed = true
        if row.cookie <= 2 { return true }
        if TemporaryName.isOne(row.name.bytes) {
          temporary.append(row.name.fileName)
          return true
        }
        let found: Result<Attributes, Fault>
        do throws(Fault) {
          guard let attributes = try attributes() else { return true }
          found = .success(attributes)
        } catch {
          // The reader tries again if the source has changed.
          guard error.allowsName else {
            isPassed = false
            throw error
          }
          found = .failure(error)
        }
        do throws(Fault) {
          count += 1
          if count.isMultiple(of: 256) { try CancellationToken.check() }
          guard count <= Self.most else { throw Fault(.limit, "the folder has more than \(Self.most) entries") }
          try body(Row(listed: row.name, kind: row.kind, view: row.viewName), found)
          return true
        } catch {
          fault = error
          return false
        }
      }
      if let fault { throw fault }
      if cookie == before { break }
    }
  }

  /// Calls `body` for each entry except `.`, `..` and items that are not complete, without reading its attributes, until
  /// it returns `false`. Blocks.
  func eachName(_ body: (Row) -> Bool) throws(Fault) {
    let reader = try place.tree.openFolder(place.node, .blocking)
    var cookie: UInt64 = 0
    var goesOn = true
    while goesOn {
      let before = cookie
      try reader.read(after: cookie, .blocking) { (row, _) throws(Fault) in
        guard goesOn else { return false }
        cookie = row.cookie
        if row.cookie > 2, !TemporaryName.isOne(row.name.bytes) {
          goesOn = body(Row(listed: row.name, kind: row.kind, view: row.viewName))
        }
        return true
      }
      if cookie == before { return }
    }
  }
}
