internal import Bytes
internal import MailViews
public import SystemPackage
internal import Tree

extension FileTree {
  /// A message found by a search.
  public struct Message: Sendable, Hashable {
    /// The path of a directory with the message's text and attachments, from the root.
    public let path: FilePath
    /// The date in the message. `nil` if it has none.
    public let date: Time?
    /// The time zone of the date, in minutes east of Greenwich.
    public let zone: Int
    /// The sender's name, or the address if the name is missing. Empty if the message has neither.
    public let sender: String
    /// The sender's address. Empty if the message has none.
    public let address: String
    /// The subject. Empty if the message has none.
    public let subject: String
    /// The size in bytes.
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

  /// The syntax of queries for messages, as the end of a sentence that starts with `A query is`.
  public static var querySyntax: String { Indexing.Query.syntax }

  /// Returns the messages that match a query, newest first. Searches a mailbox, or all mailboxes and mail directories
  /// at any depth of a directory.
  ///
  /// The first query with words waits until the words of all messages are indexed. `activities` shows the progress.
  ///
  /// - Parameters:
  ///   - query: A query as for `ffmount search`, such as `from:anna invoice`.
  ///   - path: A mailbox or a directory. The root by default.
  /// - Throws: While it is iterated: `unsupported` for an invalid query, with the reason, or for an item without
  ///   messages; `notFound`.
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
          .unsupported, place.attributes.kind == .folder ? "it is not a folder of messages" : "it is not a mailbox")
      }
      found = try FoundMessages(mail, query, in: place.names)
    }
    return try found?.next()
  }
}

/// The messages found by a search, in batches.
struct FoundMessages {
  private let mail: MailSearch
  private let results: MailSearch.Results
  private let names: [FileName]
  /// The place of the next message.
  private(set) var number: Int
  /// The total number of messages found.
  var count: Int { results.count }
  /// Whether all messages have been searched.
  var isComplete: Bool { results.isComplete }

  private static let atATime = 256

  /// Runs a search.
  ///
  /// - Parameters:
  ///   - names: The path of the mailbox or directory, from the root. Empty for the root itself.
  ///   - start: The place of the first message to return.
  ///   - limit: The maximum time to wait until words are indexed. `nil` for no limit.
  init(
    _ mail: MailSearch, _ query: Indexing.Query, in names: [FileName], from start: Int = 0,
    within limit: Duration? = nil
  ) throws(Fault) {
    self.mail = mail
    self.names = names
    number = start
    results = try waiting { () throws(Fault) in try mail.results(query, within: limit) }
  }

  /// Returns the next messages. Returns `nil` after the last one.
  mutating func next(atMost most: Int = atATime) throws(Fault) -> [FileTree.Message]? {
    var messages: [FileTree.Message] = []
    while number < results.count, messages.count < most {
      try CancellationToken.check()
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
      // The tree shows nothing beside the root, so the path names the message's own mailbox or file.
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
  /// Returns the mailbox or mail directory at a path. Returns `nil` if it contains no messages. Blocks.
  func mail(at place: ResolvedPath) throws(Fault) -> MailSearch? {
    let name = FileName((root.lastComponent?.string ?? "").utf8)
    return try waiting { () throws(Fault) in
      try MailSearch(place.source(ofRootNamed: name), in: tree.views)
    }
  }
}
