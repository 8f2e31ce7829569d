package import Bytes
public import SystemPackage
internal import Tree

extension FileTree {
  /// An entry of a directory listing.
  public struct Entry: Sendable {
    private let listed: ListedName
    private let folder: FilePath
    /// The type of the item.
    public let kind: Kind
    /// The kind of view. `nil` if the item is not a view of a file beside it.
    public let view: String?
    /// The size in bytes. 0 if it could not be determined.
    public let size: Int64
    /// Whether the size is exact. If not, the item has not been made yet.
    public let isSizeExact: Bool
    /// The time of the last change of the bytes.
    public let modified: Time

    init(_ row: DirectoryHandle.Row, in folder: FilePath, _ attributes: ItemAttributes?) {
      listed = row.name
      self.folder = folder
      kind = Kind(row.kind)
      view = row.viewName
      size = attributes?.size ?? 0
      isSizeExact = attributes.map { !$0.isPreliminary } ?? false
      modified = attributes.map { Time($0.modified) } ?? Time(seconds: 0)
    }

    /// Creates the entry of an item found at a path.
    init(_ place: ResolvedPath, at path: FilePath, view: String?) {
      listed = ListedName(path.names.last ?? "")
      folder = path.removingLastComponent()
      kind = Kind(place.attributes.kind)
      self.view = view
      size = place.attributes.size
      isSizeExact = !place.attributes.isPreliminary
      modified = Time(place.attributes.modified)
    }

    /// Whether the item is a view of a file beside it.
    public var isView: Bool { view != nil }

    /// The name for display. Bytes that are not UTF-8 become U+FFFD.
    public var name: String { String(decoding: listed.bytes, as: UTF8.self) }

    /// The unchanged name.
    package var fileName: FileName { listed.fileName }
    /// The names of the path, from the root.
    package var names: [FileName] { folder.names + [listed.fileName] }

    /// The unchanged path, from the root.
    public var path: FilePath {
      var path = folder
      path.append(FilePath([listed.fileName]).components)
      return path
    }
  }

  /// Returns the entries of a directory, in the order of its file system. Each file is followed by its views.
  ///
  /// Entries are read on demand, some hundreds at a time. Items that disappear in the meantime are left out.
  ///
  /// - Parameters:
  ///   - path: The directory. The root by default.
  ///   - details: Whether sizes and times are determined, which a listing of names does not need.
  /// - Throws: While it is iterated: `directoryNotFound`, `notADirectory`, and the errors of making a view.
  public func entries(of path: FilePath = "", details: Bool = true) -> TreeStream<Entry> {
    TreeStream(EntryRows(self, path, details: details), of: path, on: bench) {
      $0.replacing(.notFound, by: .directoryNotFound)
    }
  }
}

/// The entries of a directory, in batches.
struct EntryRows: Producer {
  private let tree: FileTree
  private let path: FilePath
  private let details: Bool
  private var open: (place: ResolvedPath, reader: DirectoryHandle)?
  private var cookie: UInt64 = 0

  private struct Found: Sendable {
    let row: DirectoryHandle.Row
    var attributes: ItemAttributes?
    /// Whether the attributes are determined later.
    let isLater: Bool
  }

  /// The maximum number of rows read at once. `many` rows are worth a second thread.
  private static let most = 1024
  private static let many = 128

  init(_ tree: FileTree, _ path: FilePath, details: Bool) {
    self.tree = tree
    self.path = path
    self.details = details
  }

  mutating func next() throws(Fault) -> [FileTree.Entry]? {
    let reader = try reader()
    while true {
      try CancellationToken.check()
      let before = cookie
      var rows: [Found] = []
      rows.reserveCapacity(Self.most)
      try waiting { () throws(Fault) in try read(reader, &rows) }
      if cookie == before { return nil }
      let entries = try entries(rows, reader)
      if !entries.isEmpty { return entries }
    }
  }

  private mutating func reader() throws(Fault) -> DirectoryHandle {
    if let open { return open.reader }
    let place = try tree.place(path)
    let reader = try waiting { () throws(Fault) in try tree.tree.openFolder(place.node, .blocking) }
    open = (place, reader)
    return reader
  }

  /// Reads rows. The attributes of real files are left out because they cost a system call each.
  private mutating func read(_ reader: DirectoryHandle, _ rows: inout [Found]) throws(Fault) {
    let isLater = details && reader.attributeCost == .small
    try reader.readAttributes(after: cookie, .blocking) { (row, attributes) throws(Fault) in
      if rows.count == Self.most { return false }
      var found = Found(row: row, attributes: nil, isLater: isLater && row.viewName == nil)
      // The first two are `.` and `..`.
      var isShown = row.cookie > 2
      if isShown, details, !found.isLater {
        let known = try unlessDelayed(attributes)
        if case .some(.none) = known { isShown = false }
        found.attributes = known ?? nil
      }
      if isShown { rows.append(found) }
      // A row whose attributes were delayed is offered again.
      cookie = row.cookie
      return true
    }
  }

  private func entries(_ rows: [Found], _ reader: DirectoryHandle) throws(Fault) -> [FileTree.Entry] {
    guard rows.count >= Self.many, rows.contains(where: \.isLater) else {
      return try Self.entries(rows[...], reader, in: path)
    }
    return try inTwo(rows.count, on: tree.bench) { [path] (range) throws(Fault) in
      try Self.entries(rows[range], reader, in: path)
    }
  }

  private static func entries(
    _ rows: ArraySlice<Found>, _ reader: DirectoryHandle, in path: FilePath
  ) throws(Fault) -> [FileTree.Entry] {
    var entries: [FileTree.Entry] = []
    entries.reserveCapacity(rows.count)
    for found in rows {
      var attributes = found.attributes
      if found.isLater {
        // Items whose attributes cannot be read are listed without them. Items that have disappeared are not listed.
        let known = try unlessDelayed { () throws(Fault) in try reader.attributes(of: found.row) }
        if case .some(.none) = known { continue }
        attributes = known ?? nil
      }
      entries.append(FileTree.Entry(found.row, in: path, attributes))
    }
    return entries
  }
}
