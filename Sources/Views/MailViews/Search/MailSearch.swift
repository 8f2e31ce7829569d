package import Bytes
internal import Mail
package import Tree

/// A search of the messages of a mailbox or a directory, which is given itself and not as the path of a view.
package struct MailSearch: Sendable {
  private let sorted: SortedMailbox

  /// Creates a search of the messages that these views show. Blocks. Returns `nil` if the file is not a mailbox, or the
  /// directory has none in or below it.
  package init?(_ source: Source, in views: Views) throws(Fault) {
    guard let view = views.all.firstNonNil({ $0 as? FolderMessagesView }),
      let sorted = try view.sorted(source)
    else { return nil }
    self.sorted = sorted
  }

  init(_ sorted: SortedMailbox) { self.sorted = sorted }

  /// The results of a query.
  package struct Results: Sendable {
    fileprivate let positions: [UInt32]
    /// Whether all messages have been searched.
    package let isComplete: Bool
    package var count: Int { positions.count }
  }

  /// Returns the messages that match, newest first. Blocks until all have been searched, or until the timeout.
  package func results(_ query: Indexing.Query, within limit: Duration? = nil) throws(Fault) -> Results {
    let found = try sorted.search.found(
      query.parsed, within: limit.map { .after($0) } ?? .none, listingAtMost: .max)
    return Results(positions: found.positions, isComplete: found.searched == nil)
  }

  /// Returns one of the messages found, with its path below the directory that contains the mailbox or directory.
  /// Returns `nil` if the message has been removed. Blocks.
  package func hit(_ number: Int, of results: Results) throws(Fault) -> Indexing.Hit? {
    let position = Int(results.positions[number])
    guard let row = try sorted.mailbox.row(at: position, .blocking) else { return nil }
    let name = try sorted.mailbox.folderName(of: row, at: position, .blocking)
    let folder = sorted.file.source.name.appending(MessagesView.suffix)
    return Indexing.Hit(
      path: "\(folder.text)/\(name.text)", date: row.date, zone: row.zone, sender: row.shownSender,
      address: row.address, subject: row.shownSubject, size: row.size)
  }

  /// Returns the path of one of the messages found, from the name of the mailbox or directory on: of its directory in a
  /// mailbox's `.messages`, or of its file.
  package func place(_ number: Int, of results: Results) -> String? {
    sorted.mailbox.places(of: Int(results.positions[number])).first
  }
}
