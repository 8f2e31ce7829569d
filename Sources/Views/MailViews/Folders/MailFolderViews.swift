package import Bytes
internal import Mail
package import Tree

/// `FOLDER.messages/`, which is not listed: the messages of a directory of message files or mailboxes.
package struct FolderMessagesView: FolderView {
  package let name = "messages"
  package let sourceKind = Kind.folder
  package let listedExtensions: Set<FileExtension> = []
  package let possibleExtensions: Set<FileExtension> = []
  private let messages: MessagesView
  private let mailboxes: Mailboxes

  package static let suffix = MessagesView.suffix

  package var descriptions: [ViewDescription] {
    [
      ViewDescription(
        "FOLDER\(Self.suffix)/",
        sources: "any Maildir or MH folder, folders of `.eml` or `.emlx` files, and trees of mailboxes",
        "a folder for each message")
    ]
  }

  /// `messages` recognizes mailboxes.
  package init(besides messages: MessagesView, _ mailboxes: Mailboxes) {
    self.messages = messages
    self.mailboxes = mailboxes
  }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool { false }

  /// Returns the messages of a mailbox, or of a directory and everything below it. Returns `nil` if there are none.
  /// Blocks.
  func sorted(_ source: Source) throws(Fault) -> SortedMailbox? {
    let isFolder = source.attributes.kind == .folder
    let found =
      try isFolder
      ? mailboxes.folder(source, messages, .blocking) : messages.messages(in: source, .blocking)
    return found.map { mailboxes.sorted($0) }
  }

  package func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult?
  {
    try mailboxes.item(of: source, messages, (MailboxFolder.mark, MailboxFolder.mark), blocking) { [mailboxes] folder in
      MailboxFolder(folder, mailboxes.messages)
    }
  }
}

/// `FOLDER.views/`: the sorted messages of a directory of message files or mailboxes. Listed beside Maildirs, and
/// beside directories with extensions that only mail programs use.
package struct FolderMailView: FolderView {
  package let name = SortedMailbox.view
  package let sourceKind = Kind.folder
  package let listedExtensions: Set<FileExtension> = []
  package let possibleExtensions: Set<FileExtension> = []
  package let markers: [FileName]
  package let folderExtensions: Set<FileExtension>
  private let messages: MessagesView
  private let mailboxes: Mailboxes

  package static let suffix = MailViewsView.suffix

  package var descriptions: [ViewDescription] {
    [
      ViewDescription(
        "FOLDER\(Self.suffix)/",
        sources: "any Maildir, `X.sbd` or `X.mbox` (listed), MH, folders of `.eml` or `.emlx`, trees of mailboxes",
        "the messages by date, sender, thread and label, their attachments, and `search/QUERY/`")
    ]
  }

  /// `messages` recognizes mailboxes.
  package init(listing: ViewListing, besides messages: MessagesView, _ mailboxes: Mailboxes) {
    self.messages = messages
    folderExtensions = listing.extensions(["mbox"]).isEmpty ? [] : MailTreeFolder.extensions
    markers = listing.extensions(["mbox"]).isEmpty ? [] : MailFileList.maildir
    self.mailboxes = mailboxes
  }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool { false }

  package func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult?
  {
    try mailboxes.item(of: source, messages, (ViewPlace.folders, 0), blocking) { [mailboxes] folder in
      MailViewsRoot(mailboxes.sorted(folder))
    }
  }
}

extension Mailboxes {
  /// Returns the view of a directory's messages, created by `make`. Returns `nil` if there are none. `marks` determine
  /// its inode number and its identity.
  fileprivate func item(
    of source: Source, _ messages: MessagesView, _ marks: (inode: UInt64, identity: UInt64), _ blocking: BlockingMode,
    _ make: @escaping @Sendable (any MessageSource) -> any DerivedItem
  ) throws(Fault) -> LookupResult? {
    guard source.attributes.kind == .folder else { return nil }
    let item: any DerivedItem
    if source.isConcealed {
      item = try ConcealedMailFolder(source, marks) { [self] (source, blocking) throws(Fault) in
        guard let folder = try folder(source, messages, blocking) else { throw .notFound }
        return make(folder)
      }
    } else {
      guard source.item.listsViews, let folder = try folder(source, messages, blocking) else { return nil }
      item = make(folder)
    }
    return LookupResult(item, try item.attributes(blocking))
  }
}

/// The view of a directory for callers that may not list the directory. It does not check whether the directory has
/// mail.
///
/// Callers that may list the directory get the same node, which gives them its actual content.
private final class ConcealedMailFolder: DerivedItem {
  let file: SourceState
  let inode: UInt64
  let identity: UInt64
  private let described: Attributes
  private let open: @Sendable (Source, BlockingMode) throws(Fault) -> any DerivedItem
  var kind: Kind { .folder }
  var isImmutable: Bool { false }

  init(
    _ source: Source, _ marks: (inode: UInt64, identity: UInt64),
    _ open: @escaping @Sendable (Source, BlockingMode) throws(Fault) -> any DerivedItem
  ) throws(Fault) {
    file = SourceState(source)
    inode = file.inode(marks.inode)
    identity = marks.identity
    let rights = CommonRights(source.attributes, try source.item.accessList(), wanted: 5)
    described = rights.applied(to: source.attributes).view(inode: inode, kind: .folder, size: 0)
    self.open = open
  }

  private func opened(_ blocking: BlockingMode) throws(Fault) -> any DerivedItem {
    var source = file.source
    source.isConcealed = false
    return try open(source, blocking)
  }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes { described }
  func accessList() throws(Fault) -> AccessList? { nil }
  func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    try opened(blocking).child(named: name, blocking)
  }
  func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor { try opened(blocking).listing(blocking) }
}
