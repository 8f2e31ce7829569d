package import Bytes
internal import Mail
package import Tree

/// The messages of a mailbox or of a folder of mail, as queries find them: for who asks without a name of a view.
package struct MailSearch: Sendable {
  private let sorted: SortedMailbox

  /// What is shown by these views as messages; nil for a file that is no mailbox, and a folder that has none in it or below
  /// it. Blocks.
  package init?(_ source: Source, in views: Views) throws(Fault) {
    guard let view = views.all.lazy.compactMap({ $0 as? FolderMessagesView }).first,
      let sorted = try view.sorted(source)
    else { return nil }
    self.sorted = sorted
  }

  init(_ sorted: SortedMailbox) { self.sorted = sorted }

  /// What a query found.
  package struct Results: Sendable {
    fileprivate let positions: [UInt32]
    /// Whether all messages have been searched.
    package let isComplete: Bool
    package var count: Int { positions.count }
  }

  /// The messages that match, newest first. Blocks until all have been searched, or for so long.
  package func results(_ query: Indexing.Query, within limit: Duration? = nil) throws(Fault) -> Results {
    let found = try sorted.search.found(
      query.parsed, within: limit.map { .after($0) } ?? .none, listingAtMost: .max)
    return Results(positions: found.positions, isComplete: found.searched == nil)
  }

  /// One of the messages found; nil if it has gone. Its path is below the folder that holds the mailbox or folder. Blocks.
  package func hit(_ number: Int, of results: Results) throws(Fault) -> Indexing.Hit? {
    let position = Int(results.positions[number])
    guard let row = try sorted.mailbox.row(at: position, .blocking) else { return nil }
    let name = try sorted.mailbox.folderName(of: row, at: position, .blocking)
    let folder = sorted.file.source.name.appending(MessagesView.suffix)
    return Indexing.Hit(
      path: "\(folder.text)/\(name.text)", date: row.date, zone: row.zone, sender: row.shownSender,
      address: row.address, subject: row.shownSubject, size: row.size)
  }

  /// Where one of the messages found is in the mailbox or folder itself, whose own name comes first: a folder of a mailbox's
  /// `.messages`, or a file.
  package func place(_ number: Int, of results: Results) -> String? {
    sorted.mailbox.places(of: Int(results.positions[number])).first
  }
}
