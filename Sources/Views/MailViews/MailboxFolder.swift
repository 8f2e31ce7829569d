internal import Bytes
internal import Locks
internal import Mail
internal import Tree

/// `NAME.messages/`: the directories of the messages of a mailbox or mail folder, in the source's order.
final class MailboxFolder: DerivedItem {
  private let mailbox: any MessageSource
  private let messages: MessageTable
  private static let view = "messages"

  var inode: UInt64 { mailbox.file.inode(MailboxFolder.mark) }
  var kind: Kind { .folder }
  var file: SourceState { mailbox.file }
  var identity: UInt64 { Self.mark }
  /// There may be millions of messages, and a plain listing must cost no more than their names.
  var attributeCost: AttributeCost { .small }

  /// Avoids collisions with the inode numbers of other views of the file.
  static let mark: UInt64 = 0x6D62_6F78 << 32

  /// The most recently listed names, by position. Most of them are looked up next.
  private let listed = UnfairLock<(first: Int, names: [FileName])>((0, []))

  init(_ mailbox: any MessageSource, _ messages: MessageTable) {
    self.mailbox = mailbox
    self.messages = messages
  }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
    mailbox.file.attributes.view(inode: inode, kind: .folder, size: 0)
  }

  func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    // The name contains the message's number; it is valid if the message has this name.
    guard let number = MessageRow.position(inFolderName: name),
      let position = try mailbox.position(ofSerial: number, blocking),
      let row = try mailbox.row(at: position, blocking), folderName(row, at: position, number) == name
    else { return nil }
    let folder = MessageFolder(shown(row, at: position, number))
    return LookupResult(folder, try folder.attributes(blocking))
  }

  /// Returns the directory name of the message at a position.
  private func folderName(_ row: MessageRow, at position: Int, _ number: Int) -> FileName {
    let known = listed.withLock { listed in
      listed.names.indices.contains(position - listed.first) ? listed.names[position - listed.first] : nil
    }
    return known ?? row.folderName(position: number)
  }

  private func shown(_ row: MessageRow, at position: Int, _ number: Int) -> ShownMessage {
    ShownMessage(
      mailbox.file, .mailbox(mailbox, .init(row)), at: position, serial: number, view: Self.view, messages)
  }

  func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor {
    mailbox.tryAgain()
    // Throws here if the file is not a mailbox, instead of listing an empty directory.
    _ = try mailbox.rows(ofBlock: 0, blocking)
    return MailboxListing(self)
  }

  func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    mailbox.file.provenance(view: Self.view, mailbox.fault)
  }

  private final class MailboxListing: DirectoryCursor {
    private let folder: MailboxFolder

    init(_ folder: MailboxFolder) { self.folder = folder }

    /// True if messages can be removed, because the positions of later messages then change.
    var outlivesChanges: Bool { folder.mailbox.losesMessages }

    func entries(after place: Int64, _ blocking: BlockingMode) throws(Fault) -> [ListedEntry] {
      guard place >= 0 else { return [] }
      let (block, start) = Int(place).quotientAndRemainder(dividingBy: BlockIndex.blockSize)
      let rows = try folder.mailbox.rows(ofBlock: block, blocking)
      guard start < rows.count else {
        try folder.mailbox.checkEnd()
        return []
      }
      var entries: [ListedEntry] = []
      var names: [FileName] = []
      for (position, row) in zip(Int(place)..., rows[start...]) {
        let number = try folder.mailbox.serial(at: position, blocking)
        let name = row.folderName(position: number)
        names.append(name)
        let message = folder.shown(row, at: position, number)
        entries.append(
          ListedEntry(
            name: ListedName(name), inode: message.inode(MessagePart.folder.number), kind: .folder,
            next: Int64(position + 1)))
      }
      folder.listed.withLock { [names] in $0 = (Int(place), names) }
      return entries
    }
  }
}
