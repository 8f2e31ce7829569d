package import Bytes
internal import Index
internal import Mail
package import Tree

/// `NAME.messages/`: the messages of a mailbox.
package struct MessagesView: FolderView {
  package let name = "messages"
  package let listedExtensions: Set<FileExtension>
  package let possibleExtensions = usual
  private let listsUnnamed: Bool
  private let mailboxes: Mailboxes

  package static let suffix: StaticString = ".messages"
  private static let usual: Set<FileExtension> = ["mbox", "mbx"]

  package var descriptions: [ViewDescription] {
    [ViewDescription(Self.spelling, listed: Self.usual, sources: "any mailbox", "a folder for each message")]
  }

  package init(listing: ViewListing, _ mailboxes: Mailboxes) {
    listedExtensions = listing.extensions(Self.usual)
    listsUnnamed = listedExtensions.contains("mbox")
    self.mailboxes = mailboxes
  }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool {
    listsUnnamed && MailboxScanner.isMailbox(startingWith: head)
  }

  /// Whether a file is a mailbox, by its name or else by its content.
  func isOf(_ source: Source, _ patience: Patience) throws(Fault) -> Bool {
    if source.isTaken(byName: listedExtensions) { return true }
    return try MailboxScanner.isMailbox(startingWith: source.head(patience))
  }

  package func item(of source: Source, _ request: ViewRequest, _ patience: Patience) throws(Fault) -> Found? {
    guard try isOf(source, patience) else { return nil }
    let folder = MailboxFolder(mailboxes.mailbox(of: source), mailboxes.messages)
    return Found(folder, try folder.attributes(patience))
  }

  package var work: WorkReport { mailboxes.work }

  package func stop() { mailboxes.stop() }
}

/// `NAME.message/`: a file that is one message.
package struct MessageView: FolderView {
  package let name = "message"
  package let listedExtensions: Set<FileExtension>
  package let possibleExtensions = usual
  private let messages: MessageTable
  private let shown = SourceTable<ShownMessage>()

  package static let suffix: StaticString = ".message"
  private static let usual: Set<FileExtension> = ["eml"]

  package var descriptions: [ViewDescription] {
    [
      ViewDescription(
        Self.spelling, listed: Self.usual, sources: "any file that starts with a message's header",
        "the message's parts")
    ]
  }

  package init(listing: ViewListing, _ messages: MessageTable) {
    listedExtensions = listing.extensions(Self.usual)
    self.messages = messages
  }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool { false }

  package func item(of source: Source, _ request: ViewRequest, _ patience: Patience) throws(Fault) -> Found? {
    if !source.isTaken(byName: listedExtensions),
      try !Header.looksLikeMessage(startingWith: source.head(patience))
    {
      return nil
    }
    let message = shown.value(of: source) { ShownMessage($0, .file, at: 0, view: name, messages) }
    let folder = MessageFolder(message)
    return Found(folder, try folder.attributes(patience))
  }
}
