package import Bytes
internal import MailViews
public import SystemPackage
internal import Tree

extension FileTree {
  /// What a search finds.
  ///
  /// In a mailbox or a folder of mail these are the messages that a query finds, as `messages(matching:in:)` does, newest
  /// first, each a folder with its text and what is attached. In a folder, the root as well, files and folders at any depth
  /// follow whose names have all the query's words in them, whatever their case. What is in a view is not searched, unless
  /// the folder is in one; the text of other files is not either.
  ///
  /// - Parameters:
  ///   - query: `from:anna invoice`, for example.
  ///   - path: a mailbox or a folder; the root by default.
  /// - Throws: while it is iterated: `unsupported` with what is wrong with the query, where there is mail; `notADirectory`,
  ///   `notFound`.
  public func search(_ query: String, in path: FilePath = "") -> TreeStream<Entry> {
    TreeStream(SearchRows(self, path, query), of: path, on: bench)
  }
}

/// What a search finds, some at a time.
package struct SearchRows: Producer {
  private let tree: FileTree
  private let path: FilePath
  private let query: String
  private let words: [String]
  private let limits: Limits?
  /// When no more names are looked at.
  private var end: ContinuousClock.Instant?
  private var messages: FoundMessages?
  /// Folders whose names are still to be looked at, the next one last; nil before the first.
  private var folders: [FilePath]?
  /// Whether all has been searched that a limit of time did not leave out.
  package private(set) var isComplete = true

  /// How long is waited for messages to be indexed, and names are looked at after that.
  package struct Limits: Sendable {
    private(set) var messages: Duration
    private(set) var names: Duration

    package init(messages: Duration, names: Duration) { (self.messages, self.names) = (messages, names) }
  }

  /// Components of a path; links are not followed, but folders may be mounted in each other.
  private static let deepest = 256

  /// - Parameter limits: nil for as long as it takes.
  package init(_ tree: FileTree, _ names: [FileName], _ query: String, within limits: Limits) {
    self.init(tree, FilePath(names), query, limits)
  }

  fileprivate init(_ tree: FileTree, _ path: FilePath, _ query: String, _ limits: Limits? = nil) {
    self.tree = tree
    self.path = path
    self.query = query
    self.limits = limits
    words = query.lowercased().split(separator: " ").map(String.init)
  }

  /// nil after the last. Blocks.
  package mutating func next() throws(Fault) -> [FileTree.Entry]? {
    if folders == nil { try begin() }
    while let found = try messages?.next() {
      var hits: [FileTree.Entry] = []
      for message in found {
        if let entry = try entry(message.path) { hits.append(entry) }
      }
      if !hits.isEmpty { return hits }
    }
    messages = nil
    while folders != [], isInTime(), let folder = folders?.popLast() {
      try Interest.check()
      // What cannot be read is passed over, but for where the search begins.
      let hits =
        folder == path ? try names(in: folder) : try unlessDelayed { () throws(Fault) in try names(in: folder) } ?? []
      if !hits.isEmpty { return hits }
    }
    return nil
  }

  private mutating func begin() throws(Fault) {
    let place = try tree.place(path)
    let isFolder = place.attributes.kind == .folder
    if let mail = try tree.mail(at: place) {
      messages = try FoundMessages(mail, Indexing.Query(query), in: place.names, within: limits?.messages)
      isComplete = messages?.isComplete ?? true
    } else if !isFolder {
      throw .notFolder
    }
    folders = isFolder ? [path] : []
    end = limits.map { .now + $0.names }
  }

  /// Whether there is time for more names.
  private mutating func isInTime() -> Bool {
    guard let end, ContinuousClock.now > end else { return true }
    isComplete = false
    return false
  }

  /// nil for what has gone.
  private func entry(_ path: FilePath) throws(Fault) -> FileTree.Entry? {
    try unlessDelayed { () throws(Fault) in FileTree.Entry(try tree.place(path), at: path, view: nil) }
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
    folders = (folders ?? []) + inner.reversed()
    return hits
  }
}
