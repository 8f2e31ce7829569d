package import Bytes
public import SystemPackage
internal import Tree

extension FileTree {
  /// What a listing says of one file or folder.
  public struct Entry: Sendable {
    private let listed: ListedName
    private let folder: FilePath
    /// What it is.
    public let kind: Kind
    /// Which view it is; nil if it is not a view of a file beside it.
    public let view: String?
    /// In bytes; 0 if it could not be looked at.
    public let size: Int64
    /// Whether that is certain before it is made.
    public let isSizeExact: Bool
    /// When its bytes were last changed.
    public let modified: Time

    init(_ row: FolderReader.Row, in folder: FilePath, _ attributes: ItemAttributes?) {
      listed = row.name
      self.folder = folder
      kind = Kind(row.kind)
      view = row.viewName
      size = attributes?.size ?? 0
      isSizeExact = attributes.map { !$0.isPreliminary } ?? false
      modified = attributes.map { Time($0.modified) } ?? Time(seconds: 0)
    }

    /// What was found at a path, in the folder that it ends in.
    init(_ place: Place, at path: FilePath, view: String?) {
      listed = ListedName(path.names.last ?? "")
      folder = path.removingLastComponent()
      kind = Kind(place.attributes.kind)
      self.view = view
      size = place.attributes.size
      isSizeExact = !place.attributes.isPreliminary
      modified = Time(place.attributes.modified)
    }

    /// Whether it is a view of a file beside it.
    public var isView: Bool { view != nil }

    /// The name, for people: bytes that are not UTF-8 are U+FFFD.
    public var name: String { String(decoding: listed.bytes, as: UTF8.self) }

    /// The name as it is.
    package var fileName: FileName { listed.fileName }
    /// Those of the path, from the root.
    package var names: [FileName] { folder.names + [listed.fileName] }

    /// The path from the root, as it is.
    public var path: FilePath {
      var path = folder
      path.append(FilePath([listed.fileName]).components)
      return path
    }
  }

  /// The entries of a folder, in the order of its file system, each file followed by its views.
  ///
  /// They are read as they are asked for, some hundreds at a time. What vanishes meanwhile is left out.
  ///
  /// - Parameters:
  ///   - path: the folder; the root by default.
  ///   - details: whether size and time are looked up, which a listing of names does without.
  /// - Throws: while it is iterated: `directoryNotFound`, `notADirectory`, and what keeps a view from being made.
  public func entries(of path: FilePath = "", details: Bool = true) -> TreeStream<Entry> {
    TreeStream(EntryRows(self, path, details: details), of: path, on: bench) {
      $0.replacing(.notFound, by: .directoryNotFound)
    }
  }
}

struct EntryRows: Producer {
  private let tree: FileTree
  private let path: FilePath
  private let details: Bool
  private var open: (place: Place, reader: FolderReader)?
  private var cookie: UInt64 = 0

  private struct Found: Sendable {
    let row: FolderReader.Row
    var attributes: ItemAttributes?
    /// Whether its attributes are still to be found.
    let isLater: Bool
  }

  /// Rows that are read at once, and those that are worth a second thread.
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
      try Interest.check()
      let before = cookie
      var rows: [Found] = []
      rows.reserveCapacity(Self.most)
      try waiting { () throws(Fault) in try read(reader, &rows) }
      if cookie == before { return nil }
      let entries = try entries(rows, reader)
      if !entries.isEmpty { return entries }
    }
  }

  private mutating func reader() throws(Fault) -> FolderReader {
    if let open { return open.reader }
    let place = try tree.place(path)
    let reader = try waiting { () throws(Fault) in try tree.tree.openFolder(place.node, .blocking) }
    open = (place, reader)
    return reader
  }

  /// What a listing says; of real files, whose attributes are a system call each, without them.
  private mutating func read(_ reader: FolderReader, _ rows: inout [Found]) throws(Fault) {
    let isLater = details && reader.attributeCost == .small
    try reader.readAttributes(after: cookie, .blocking) { (row, attributes) throws(Fault) in
      if rows.count == Self.most { return false }
      cookie = row.cookie
      // The first two are `.` and `..`.
      if row.cookie <= 2 { return true }
      var found = Found(row: row, attributes: nil, isLater: isLater && row.viewName == nil)
      if details, !found.isLater {
        let known = try unlessDelayed(attributes)
        if case .some(.none) = known { return true }
        found.attributes = known ?? nil
      }
      rows.append(found)
      return true
    }
  }

  private func entries(_ rows: [Found], _ reader: FolderReader) throws(Fault) -> [FileTree.Entry] {
    guard rows.count >= Self.many, rows.contains(where: \.isLater) else {
      return try Self.entries(rows[...], reader, in: path)
    }
    return try inTwo(rows.count, on: tree.bench) { [path] (range) throws(Fault) in
      try Self.entries(rows[range], reader, in: path)
    }
  }

  private static func entries(
    _ rows: ArraySlice<Found>, _ reader: FolderReader, in path: FilePath
  ) throws(Fault) -> [FileTree.Entry] {
    var entries: [FileTree.Entry] = []
    entries.reserveCapacity(rows.count)
    for found in rows {
      var attributes = found.attributes
      if found.isLater {
        // What cannot be looked at is listed without; what has vanished is not.
        let known = try unlessDelayed { () throws(Fault) in try reader.attributes(of: found.row) }
        if case .some(.none) = known { continue }
        attributes = known ?? nil
      }
      entries.append(FileTree.Entry(found.row, in: path, attributes))
    }
    return entries
  }
}
