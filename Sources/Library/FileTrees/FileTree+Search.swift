internal import Bytes
internal import MailViews
public import SystemPackage
internal import Tree

extension FileTree {
  /// Returns the entries that match a query.
  ///
  /// In a mailbox or a mail directory, these are the messages found by `messages(matching:in:)`, newest first. Each is
  /// a directory with its text and attachments. In any directory, including the root, files and directories at any
  /// depth follow whose names contain all words of the query, regardless of case. Views are not searched unless the
  /// directory is in one. The text of other files is not searched.
  ///
  /// - Parameters:
  ///   - query: A query such as `from:anna invoice`.
  ///   - path: A mailbox or a directory. The root by default.
  /// - Throws: While it is iterated: `unsupported` for an invalid query, with the reason, if there is mail;
  ///   `notADirectory`, `notFound`.
  public func search(_ query: String, in path: FilePath = "") -> TreeStream<Entry> {
    TreeStream(SearchRows(self, path, query), of: path, on: bench)
  }
}

/// The results of a search, in batches: messages, then names.
private struct SearchRows: Producer {
  private let tree: FileTree
  private let path: FilePath
  private let query: String
  private var messages: FoundMessages?
  /// The search of names. `nil` before it begins, and in a file.
  private var names: FoundNames?
  private var hasBegun = false

  init(_ tree: FileTree, _ path: FilePath, _ query: String) {
    self.tree = tree
    self.path = path
    self.query = query
  }

  mutating func next() throws(Fault) -> [FileTree.Entry]? {
    if !hasBegun { try begin() }
    while let found = try messages?.next() {
      var hits: [FileTree.Entry] = []
      for message in found {
        if let entry = try entry(message.path) { hits.append(entry) }
      }
      if !hits.isEmpty { return hits }
    }
    messages = nil
    return try names?.next()
  }

  private mutating func begin() throws(Fault) {
    let place = try tree.place(path)
    let isFolder = place.attributes.kind == .folder
    if let mail = try tree.mail(at: place) {
      messages = try FoundMessages(mail, Indexing.Query(query), in: place.names)
    } else if !isFolder {
      throw .notFolder
    }
    if isFolder { names = FoundNames(tree, path, query) }
    hasBegun = true
  }

  /// Returns `nil` if the message has disappeared.
  private func entry(_ path: FilePath) throws(Fault) -> FileTree.Entry? {
    try unlessDelayed { () throws(Fault) in FileTree.Entry(try tree.place(path), at: path, view: nil) }
  }
}

/// The files and directories below a directory whose names contain all words of a query, in batches.
struct FoundNames {
  private let tree: FileTree
  private let path: FilePath
  private let words: [String]
  /// The time at which the search ends. `nil` for no limit.
  private let end: ContinuousClock.Instant?
  /// The directories that have not been searched, the next one last.
  private var folders: [FilePath]
  /// Whether the time limit has not cut the search short so far.
  private(set) var isComplete = true

  /// The maximum number of path components. Links are not followed, but directories may be mounted in each other.
  private static let deepest = 256

  /// - Parameter limit: The maximum time to search. `nil` for no limit.
  init(_ tree: FileTree, _ path: FilePath, _ query: String, within limit: Duration? = nil) {
    self.tree = tree
    self.path = path
    words = query.lowercased().split(separator: " ").map(String.init)
    end = limit.map { .now + $0 }
    folders = [path]
  }

  /// Returns the next entries. Returns `nil` after the last one. Blocks.
  mutating func next() throws(Fault) -> [FileTree.Entry]? {
    while !folders.isEmpty, isInTime(), let folder = folders.popLast() {
      try CancellationToken.check()
      // Unreadable directories are skipped, except for the first one.
      let hits =
        folder == path ? try names(in: folder) : try unlessDelayed { () throws(Fault) in try names(in: folder) } ?? []
      if !hits.isEmpty { return hits }
    }
    return nil
  }

  private mutating func isInTime() -> Bool {
    guard let end, ContinuousClock.now > end else { return true }
    isComplete = false
    return false
  }

  private mutating func names(in folder: FilePath) throws(Fault) -> [FileTree.Entry] {
    var rows = EntryRows(tree, folder, details: true)
    var hits: [FileTree.Entry] = []
    var inner: [FilePath] = []
    while isInTime(), let entries = try rows.next() {
      for entry in entries where !entry.isView {
        if entry.kind == .directory, folder.components.count < Self.deepest { inner.append(entry.path) }
        let name = entry.name.lowercased()
        if words.allSatisfy({ name.contains($0) }) { hits.append(entry) }
      }
    }
    folders += inner.reversed()
    return hits
  }
}
