internal import Bytes
internal import MailViews
public import SystemPackage
internal import Tree

extension FileTree {
  /// A message that a search has found.
  public struct Message: Sendable, Hashable {
    /// Of a folder with its text and what is attached, from the root.
    public let path: FilePath
    /// When it was sent, as it says; nil if it does not.
    public let date: Time?
    /// The zone that the date was given in, in minutes east of Greenwich.
    public let zone: Int
    /// The sender's name, or else the address; empty if it says neither.
    public let sender: String
    /// The sender's address; empty if it says none.
    public let address: String
    /// Empty if it has none.
    public let subject: String
    /// In bytes.
    public let size: Int64

    fileprivate init(_ hit: Indexing.Hit, at path: FilePath) {
      self.path = path
      date = hit.date.map { Time(seconds: $0) }
      zone = hit.zone
      sender = hit.sender
      address = hit.address
      subject = hit.subject
      size = hit.size
    }
  }

  /// What can be written in a query for messages, as the end of a sentence that starts with `A query is`.
  public static var querySyntax: String { Indexing.Query.syntax }

  /// The messages that a query finds in a mailbox, or in all mailboxes and folders of mail at any depth of a folder, newest
  /// first.
  ///
  /// The first query that asks for words waits until all messages' are indexed; `activities` says how far that is.
  ///
  /// - Parameters:
  ///   - query: as for `ffmount search`: `from:anna invoice`, for example.
  ///   - path: a mailbox or a folder; the root by default.
  /// - Throws: while it is iterated: `unsupported` with what is wrong with the query, or for what has no messages;
  ///   `notFound`.
  public func messages(matching query: String, in path: FilePath = "") -> TreeStream<Message> {
    TreeStream(MessageRows(self, path, query), of: path, on: bench)
  }
}

private struct MessageRows: Producer {
  private let tree: FileTree
  private let path: FilePath
  private let query: String
  private var found: FoundMessages?

  init(_ tree: FileTree, _ path: FilePath, _ query: String) {
    self.tree = tree
    self.path = path
    self.query = query
  }

  mutating func next() throws(Fault) -> [FileTree.Message]? {
    if found == nil {
      let query = try Indexing.Query(query)
      let place = try tree.place(path)
      guard let mail = try tree.mail(at: place) else {
        throw Fault(
          .unsupported, place.attributes.kind == .folder ? "it is no folder of messages" : "it is no mailbox")
      }
      found = try FoundMessages(mail, query, in: place.names)
    }
    return try found?.next()
  }
}

/// Messages that a search has found, some at a time.
struct FoundMessages {
  private let mail: MailSearch
  private let results: MailSearch.Results
  private let names: [FileName]
  private var number = 0
  /// Whether all messages have been searched.
  var isComplete: Bool { results.isComplete }

  private static let atATime = 256

  /// - Parameters:
  ///   - names: of the mailbox or folder, from the root; none for the root itself.
  ///   - limit: how long is waited for words to be indexed; nil for as long as it takes.
  init(
    _ mail: MailSearch, _ query: Indexing.Query, in names: [FileName], within limit: Duration? = nil
  ) throws(Fault) {
    self.mail = mail
    self.names = names
    results = try waiting { () throws(Fault) in try mail.results(query, within: limit) }
  }

  /// nil after the last.
  mutating func next() throws(Fault) -> [FileTree.Message]? {
    var messages: [FileTree.Message] = []
    while number < results.count, messages.count < Self.atATime {
      try Interest.check()
      if let hit = try waiting({ () throws(Fault) in try mail.hit(number, of: results) }) {
        messages.append(FileTree.Message(hit, at: path(of: hit)))
      }
      number += 1
    }
    return messages.isEmpty ? nil : messages
  }

  private func path(of hit: Indexing.Hit) -> FilePath {
    var path = FilePath(names.dropLast())
    if names.isEmpty {
      // Nothing in the tree is beside the root: the message's own mailbox or file is named.
      let place = FilePath(mail.place(number, of: results) ?? hit.path)
      path.append(place.components.dropFirst())
      if !place.components.dropLast().contains(where: { $0.string.hasSuffix(".messages") }) {
        path = FilePath(path.string + ".message")
      }
      return path
    }
    path.append(FilePath(hit.path).components)
    return path
  }
}

extension FileTree {
  /// The mailbox or folder of mail that is at a place; nil if there is no message. Blocks.
  func mail(at place: Place) throws(Fault) -> MailSearch? {
    let name = FileName((root.lastComponent?.string ?? "").utf8)
    return try waiting { () throws(Fault) in
      try MailSearch(place.source(ofRootNamed: name), in: tree.views)
    }
  }
}
