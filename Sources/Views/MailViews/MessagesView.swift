package import Bytes
internal import Codecs
internal import Index
internal import Mail
package import Tree
package import Unpacking

/// `NAME.messages/`: the messages of a mailbox.
package struct MessagesView: FolderView {
  package let name = "messages"
  package let listedExtensions: Set<FileExtension>
  package let possibleExtensions: Set<FileExtension>
  private let listsUnnamed: Bool
  private let mailboxes: Mailboxes
  private let unpacking: Unpacking
  /// The listed extensions of mailboxes that are not compressed.
  private let plain: Set<FileExtension>
  /// Nil if no program that reads Outlook files is available.
  private let stores: MailStores?
  /// The listed extensions of Outlook files.
  private let storeExtensions: Set<FileExtension>

  package static let suffix: StaticString = ".messages"
  private static let usual: Set<FileExtension> = ["mbox", "mbx"]

  package var descriptions: [ViewDescription] {
    let own = ViewDescription(
      Self.spelling, listed: Self.usual, sources: "any mailbox, also compressed (`.mbox.gz`, `2024-May.txt.gz`)",
      "a folder for each message")
    let others = ViewDescription(
      Self.spelling, listed: MailStores.extensions, sources: "PST, OST (Outlook)", "a folder for each message")
    return stores == nil ? [own] : [own, others]
  }

  package init(
    listing: ViewListing, _ mailboxes: Mailboxes, _ unpacking: Unpacking = Unpacking(), stores: MailStores? = nil
  ) {
    plain = listing.extensions(Self.usual)
    storeExtensions = stores == nil ? [] : listing.extensions(MailStores.extensions)
    possibleExtensions = stores == nil ? Self.usual : Self.usual.union(MailStores.extensions)
    listsUnnamed = plain.contains("mbox")
    listedExtensions = (listsUnnamed ? plain.union(Self.packed) : plain).union(storeExtensions)
    self.mailboxes = mailboxes
    self.stores = stores
    self.unpacking = unpacking
  }

  private static let packed = CompressedFormat.allCases.flatMap(\.extensions).filter { $0.inside.isEmpty }.map(\.own)

  package func purpose(beside file: FileName) -> ListingPurpose { .opening }

  package func isListed(beside file: FileName) -> Bool {
    guard let fileExtension = file.fileExtension else { return false }
    return plain.contains(fileExtension) || storeExtensions.contains(fileExtension)
      || listsUnnamed && isPackedMailbox(file)
  }

  /// Returns whether a name is that of a compressed mailbox, such as `list.mbox.gz`, or `2024-May.txt.gz` in Mailman's
  /// archives.
  private func isPackedMailbox(_ file: FileName) -> Bool {
    guard let fileExtension = file.fileExtension, Self.packed.contains(fileExtension) else { return false }
    let inner = CompressedFormat.innerName(of: file)
    guard let kind = inner.fileExtension else { return false }
    return Self.usual.contains(kind) || kind == "txt" && MailboxScanner.isArchiveName(inner.bytes)
  }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool {
    listsUnnamed && (MailboxScanner.isMailbox(startingWith: head) || stores != nil && MailStores.isStart(head))
  }

  /// Returns the messages of a file, recognized by its name or else by its content. Returns `nil` if it has none.
  func messages(in source: Source, _ blocking: BlockingMode) throws(Fault) -> (any MessageSource)? {
    if let stores, try isStore(source, blocking) { return mailboxes.store(of: source, stores.workers) }
    return try mailbox(in: source, blocking).map { mailboxes.mailbox(of: $0) }
  }

  private func isStore(_ source: Source, _ blocking: BlockingMode) throws(Fault) -> Bool {
    if source.isConcealed { return source.isNamed(among: MailStores.extensions) }
    if source.isNamed(among: storeExtensions) { return true }
    // A file that is named like a mailbox is not opened.
    if source.isTaken(byName: plain) || isPackedMailbox(source.name) { return false }
    return try MailStores.isStart(source.head(blocking))
  }

  /// Returns whether a file's name is that of a mailbox, regardless of which views are listed.
  func isMailboxName(_ file: FileName) -> Bool {
    guard let fileExtension = file.fileExtension else { return false }
    return Self.usual.contains(fileExtension) || isPackedMailbox(file)
  }

  /// Returns the mailbox that a file is, or that a compressed file contains, recognized by its name or else by its
  /// content. Returns `nil` if there is none.
  func mailbox(in source: Source, _ blocking: BlockingMode) throws(Fault) -> Source? {
    if source.isTaken(byName: plain) { return source }
    if listsUnnamed, isPackedMailbox(source.name) { return try unpacking.inside(of: source, blocking) ?? source }
    let head = try source.head(blocking)
    if MailboxScanner.isMailbox(startingWith: head) { return source }
    guard CompressedFormat(startingWith: head) != nil, let inside = try unpacking.inside(of: source, blocking) else {
      return nil
    }
    return try MailboxScanner.isMailbox(startingWith: inside.head(blocking)) ? inside : nil
  }

  package func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult?
  {
    guard let messages = try messages(in: source, blocking) else { return nil }
    let folder = MailboxFolder(messages, mailboxes.messages)
    return LookupResult(folder, try folder.attributes(blocking))
  }

  package var work: WorkReport { mailboxes.work }

  package func stop() { mailboxes.stop() }
}

/// `NAME.message/`: a file that is one message, or an Outlook message file.
package struct MessageView: FolderView {
  /// A function that returns an Outlook file as an ordinary message. It returns `nil` for other files.
  package typealias Outlook = @Sendable (Source, BlockingMode) throws(Fault) -> Source?

  package let name = "message"
  package let listedExtensions: Set<FileExtension>
  package let possibleExtensions: Set<FileExtension>
  private let messages: MessageTable
  private let outlook: Outlook?
  private let shown = SourceTable<ShownMessage>()

  package static let suffix: StaticString = ".message"
  private static let plain: Set<FileExtension> = ["eml"]

  package var descriptions: [ViewDescription] {
    [
      ViewDescription(
        Self.spelling, listed: possibleExtensions,
        sources: "any file that starts with a message's header, MSG (Outlook)",
        "the message's parts")
    ]
  }

  /// - Parameter outlook: Nil if no program that reads Outlook files is available.
  package init(listing: ViewListing, _ messages: MessageTable, outlook: Outlook? = nil) {
    possibleExtensions = outlook == nil ? Self.plain : Self.plain.union(["msg"])
    listedExtensions = listing.extensions(possibleExtensions)
    self.messages = messages
    self.outlook = outlook
  }

  package func purpose(beside file: FileName) -> ListingPurpose { .opening }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool { false }

  package func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult?
  {
    var source = source
    // A listing opens no files.
    if !source.isTaken(byName: listedExtensions.intersection(Self.plain)) {
      if let made = try outlook?(source, blocking) {
        source = made
      } else if try !Header.looksLikeMessage(startingWith: source.head(blocking)) {
        return nil
      }
    }
    let isMade = source.item.knownHead != nil
    let message = shown.value(of: source) { ShownMessage($0, .file(isMade: isMade), at: 0, view: name, messages) }
    let folder = MessageFolder(message)
    return LookupResult(folder, try folder.attributes(blocking))
  }
}
