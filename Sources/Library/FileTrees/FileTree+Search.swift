internal import Bytes
internal import Glibc
internal import MailViews
public import SystemPackage
internal import Tree

extension FileTree {
  /// What a search finds.
  ///
  /// In a mailbox or a folder of mail these are messages, newest first, each a folder with its text and what is attached.
  /// The query is one as in `ffmount search`; the first that asks for words waits until these are indexed. In any other
  /// folder, these are files and folders at any depth whose names have all the query's words in them, whatever their case;
  /// what is in a view is not searched.
  ///
  /// - Parameters:
  ///   - query: `from:anna invoice`, for example.
  ///   - path: a mailbox or a folder; the root by default.
  /// - Throws: while it is iterated: `unsupported` with what is wrong with the query; `notADirectory`, `notFound`.
  public func search(_ query: String, in path: FilePath = "") -> TreeStream<Entry> {
    TreeStream(SearchRows(self, path, query), of: path, on: bench)
  }
}

private struct SearchRows: Producer {
  private let tree: FileTree
  private let path: FilePath
  private let query: String
  private let words: [String]
  private var found: EntryRows?
  /// Folders whose names are still to be looked at, the next one last; nil before the first.
  private var folders: [FilePath]?

  /// Components of a path; links are not followed, but folders may be mounted in each other.
  private static let deepest = 256

  init(_ tree: FileTree, _ path: FilePath, _ query: String) {
    self.tree = tree
    self.path = path
    self.query = query
    words = query.lowercased().split(separator: " ").map(String.init)
  }

  mutating func next() throws(Fault) -> [FileTree.Entry]? {
    if folders == nil {
      folders = []
      if let mail = try mail() {
        // What is wrong with the query is told; a folder of it would only be empty.
        _ = try Indexing.Query(query)
        try wait(for: mail)
        found = EntryRows(tree, mail, details: true)
      } else {
        guard try tree.place(path).attributes.kind == .folder else { throw .notFolder }
        folders = [path]
      }
    }
    if found != nil { return try found?.next() }
    while let folder = folders?.popLast() {
      try Interest.check()
      // What cannot be read is passed over, but for where the search begins.
      let hits =
        folder == path ? try names(in: folder) : try unlessDelayed { () throws(Fault) in try names(in: folder) } ?? []
      if !hits.isEmpty { return hits }
    }
    return nil
  }

  /// Waits until all messages have been searched: until then, a file beside them says that some may be missing.
  private func wait(for results: FilePath) throws(Fault) {
    while true {
      var rows = EntryRows(tree, results, details: false)
      var isComplete = true
      while let entries = try rows.next() { isComplete = isComplete && entries.allSatisfy { $0.kind == .directory } }
      if isComplete { return }
      try Interest.check()
      _ = usleep(Self.pause)
    }
  }

  /// In microseconds.
  private static let pause: UInt32 = 50_000

  private mutating func names(in folder: FilePath) throws(Fault) -> [FileTree.Entry] {
    var rows = EntryRows(tree, folder, details: true)
    var hits: [FileTree.Entry] = []
    var inner: [FilePath] = []
    while let entries = try rows.next() {
      for entry in entries where !entry.isView {
        if entry.kind == .directory, folder.components.count < Self.deepest { inner.append(entry.path) }
        let name = entry.name.lowercased()
        if words.allSatisfy({ name.contains($0) }) { hits.append(entry) }
      }
    }
    folders? += inner.reversed()
    return hits
  }

  /// The folder that shows what the query finds in a mailbox; nil if it is none.
  private func mail() throws(Fault) -> FilePath? {
    let place = try tree.place(path)
    // A search of the whole root has no name to ask beside.
    guard let own = place.names.last else { return nil }
    let folder = try tree.place(Array(place.names.dropLast()))
    // No name has a slash in it; to a query it is a blank.
    let asked = FileName(query.utf8.map { $0 == UInt8(ascii: "/") ? UInt8(ascii: " ") : $0 })
    let steps = [own.appending(".views"), "search", asked]
    return try waiting { () throws(Fault) in
      guard steps.allSatisfy({ (1...255).contains($0.count) }),
        let views = try unlessDelayed({ () throws(Fault) in try folder.child(steps[0], .blocking) }),
        // A real folder of that name is none.
        try views.provenance(.blocking) != nil,
        let searches = try unlessDelayed({ () throws(Fault) in try views.child(steps[1], .blocking) })
      else { return nil }
      _ = try unlessDelayed { () throws(Fault) in try searches.child(steps[2], .blocking) }
      return FilePath(place.names.dropLast() + steps)
    }
  }
}
