internal import Bytes
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

    /// Whether it is a view of a file beside it.
    public var isView: Bool { view != nil }

    /// The name, for people: bytes that are not UTF-8 are U+FFFD.
    public var name: String { String(decoding: listed.bytes, as: UTF8.self) }

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

  private static let most = 512

  init(_ tree: FileTree, _ path: FilePath, details: Bool) {
    self.tree = tree
    self.path = path
    self.details = details
  }

  mutating func next() throws(Fault) -> [FileTree.Entry]? {
    let reader = try reader()
    var entries: [FileTree.Entry] = []
    entries.reserveCapacity(Self.most)
    while true {
      try Interest.check()
      let before = cookie
      try waiting { () throws(Fault) in try read(reader, &entries) }
      if !entries.isEmpty { return entries }
      if cookie == before { return nil }
    }
  }

  private mutating func reader() throws(Fault) -> FolderReader {
    if let open { return open.reader }
    let place = try tree.place(path)
    let reader = try waiting { () throws(Fault) in try tree.tree.openFolder(place.node, .blocking) }
    open = (place, reader)
    return reader
  }

  private mutating func read(_ reader: FolderReader, _ entries: inout [FileTree.Entry]) throws(Fault) {
    try reader.readAttributes(after: cookie, .blocking) { (row, attributes) throws(Fault) in
      if entries.count == Self.most { return false }
      cookie = row.cookie
      // The first two are `.` and `..`.
      if row.cookie <= 2 { return true }
      var found: ItemAttributes?
      if details {
        do throws(Fault) {
          found = try attributes()
          if found == nil { return true }
        } catch { if error.isDelay { throw error } }
      }
      entries.append(FileTree.Entry(row, in: path, found))
      return true
    }
  }
}
