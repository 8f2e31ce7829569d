package import Bytes
internal import Mail
package import Tree

/// `NAME.views/`: one directory for each sorting of a mailbox's messages that is not empty.
final class MailViewsRoot: MailViewDirectory {
  let sorted: SortedMailbox
  let place: UInt64 = 0

  package init(_ sorted: SortedMailbox) { self.sorted = sorted }

  /// The directories of the sortings, of all attachments, and of queries.
  private enum Branch: CaseIterable {
    case date
    case sender
    case thread
    case label
    case withAttachments
    case attachments
    case attachmentType
    case attachmentSender
    case attachmentYear
    case deleted
    case search

    var name: FileName {
      switch self {
      case .date: "by-date"
      case .sender: "by-sender"
      case .thread: "by-thread"
      case .label: "by-label"
      case .withAttachments: "with-attachments"
      case .attachments: "attachments"
      case .attachmentType: "by-attachment-type"
      case .attachmentSender: "by-attachment-sender"
      case .attachmentYear: "by-attachment-year"
      case .deleted: "deleted"
      case .search: "search"
      }
    }

    var sorting: Sorting? {
      switch self {
      case .date: .date
      case .sender: .sender
      case .thread: .thread
      case .label: .label
      case .withAttachments: .attachments
      case .attachments, .attachmentType, .attachmentSender, .attachmentYear, .search: nil
      case .deleted: .deleted
      }
    }

    var attachmentSorting: AttachmentSorting? {
      switch self {
      case .attachmentType: .type
      case .attachmentSender: .sender
      case .attachmentYear: .year
      case .date, .sender, .thread, .label, .withAttachments, .attachments, .deleted, .search: nil
      }
    }
  }

  private func item(_ branch: Branch) -> any MailViewDirectory {
    if let sorting = branch.sorting { return GroupFolder(sorted, sorting) }
    if let sorting = branch.attachmentSorting { return AttachmentGroupFolder(sorted, sorting) }
    return branch == .search ? SearchFolder(sorted) : AttachmentsFolder(sorted)
  }

  /// Returns whether the directory is not empty. For attachments, waits only for the first one.
  private func isThere(_ branch: Branch, _ blocking: BlockingMode) throws(Fault) -> Bool {
    switch branch {
    case .withAttachments, .attachments, .attachmentType, .attachmentSender, .attachmentYear:
      try sorted.attachments.hasAny(blocking)
    case .date, .sender, .thread, .search: try sorted.mailbox.count(blocking) > 0
    case .label: try sorted.groups(.label, blocking).count > 0
    case .deleted: try sorted.groups(.deleted, blocking).count > 0
    }
  }

  func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    guard let branch = Branch.allCases.first(where: { $0.name == name }), try isThere(branch, blocking) else {
      return nil
    }
    let folder = item(branch)
    return LookupResult(folder, try folder.attributes(blocking))
  }

  func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor {
    sorted.mailbox.tryAgain()
    // Throws here if the file is not a mailbox, instead of listing an empty directory.
    _ = try sorted.mailbox.rows(ofBlock: 0, blocking)
    var names: [(name: FileName, inode: UInt64, kind: Kind)] = []
    for branch in Branch.allCases where try isThere(branch, blocking) {
      names.append((branch.name, item(branch).inode, .folder))
    }
    return IndexedCursor(names)
  }
}

/// `NAME.views/`: the messages of a mailbox, sorted.
package struct MailViewsView: FolderView {
  package let name = SortedMailbox.view
  private let messages: MessagesView
  private let mailboxes: Mailboxes

  package static let suffix: StaticString = ".views"
  package var possibleExtensions: Set<FileExtension> { messages.possibleExtensions }
  package var listedExtensions: Set<FileExtension> { messages.listedExtensions }

  package var descriptions: [ViewDescription] {
    [
      ViewDescription(
        Self.spelling, listed: messages.possibleExtensions,
        sources: possibleExtensions.contains("pst") ? "any mailbox, PST, OST (Outlook)" : "any mailbox",
        "the messages by date, sender, thread and label, their attachments, and `search/QUERY/`")
    ]
  }

  /// A view of the same files as `messages`.
  package init(besides messages: MessagesView, _ mailboxes: Mailboxes) {
    self.messages = messages
    self.mailboxes = mailboxes
  }

  package func isListed(beside file: FileName) -> Bool { messages.isListed(beside: file) }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool {
    messages.isListed(besideFileStartingWith: head)
  }

  package func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult?
  {
    guard let messages = try messages.messages(in: source, blocking) else { return nil }
    let folder = MailViewsRoot(mailboxes.sorted(messages))
    return LookupResult(folder, try folder.attributes(blocking))
  }
}
