internal import Bytes
internal import Index
internal import Mail

/// `NAME.messages/`: the messages of a mailbox.
struct MessagesView: View {
  let name = "messages"
  let listedExtensions: Set<FileExtension>
  static var possibleExtensions: Set<FileExtension> { usual }
  private let listsUnnamed: Bool
  private let mailboxes: Mailboxes

  private static let suffix: StaticString = ".messages"
  private static let usual: Set<FileExtension> = ["mbox", "mbx"]
  /// Enough to know a mailbox by, in bytes.
  static let headSize = 4096

  init(listing: ViewListing, _ mailboxes: Mailboxes) {
    listedExtensions = listing.extensions(Self.usual)
    listsUnnamed = listedExtensions.contains("mbox")
    self.mailboxes = mailboxes
  }

  func listedName(beside file: FileName) -> FileName { file.appending(Self.suffix) }

  func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool {
    listsUnnamed && MailboxScanner.isMailbox(startingWith: head)
  }

  func request(for name: FileName) -> ViewRequest? {
    name.dropping(suffix: Self.suffix).map { ViewRequest(source: $0) }
  }

  func item(of source: Source, _ request: ViewRequest, _ patience: Patience) throws(Fault) -> Found? {
    if !source.isNamed(among: listedExtensions),
      try !MailboxScanner.isMailbox(startingWith: source.head(Self.headSize, patience))
    {
      return nil
    }
    let folder = MailboxFolder(mailboxes.mailbox(of: source), mailboxes.messages)
    return Found(folder, try folder.attributes(patience))
  }

  func stop() { mailboxes.stop() }
}

/// `NAME.message/`: a file that is one message.
struct MessageView: View {
  let name = "message"
  let listedExtensions: Set<FileExtension>
  static var possibleExtensions: Set<FileExtension> { usual }
  private let messages: MessageTable
  private let shown = SourceTable<ShownMessage>()

  private static let suffix: StaticString = ".message"
  private static let usual: Set<FileExtension> = ["eml"]
  private static let headSize = 4096

  init(listing: ViewListing, _ messages: MessageTable) {
    listedExtensions = listing.extensions(Self.usual)
    self.messages = messages
  }

  func listedName(beside file: FileName) -> FileName { file.appending(Self.suffix) }

  func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool { false }

  func request(for name: FileName) -> ViewRequest? {
    name.dropping(suffix: Self.suffix).map { ViewRequest(source: $0) }
  }

  func item(of source: Source, _ request: ViewRequest, _ patience: Patience) throws(Fault) -> Found? {
    if !source.isNamed(among: listedExtensions),
      try !Header.looksLikeMessage(startingWith: source.head(Self.headSize, patience))
    {
      return nil
    }
    let message = shown.value(of: source) { ShownMessage($0, .file, at: 0, view: name, messages) }
    let folder = MessageFolder(message)
    return Found(folder, try folder.attributes(patience))
  }
}
