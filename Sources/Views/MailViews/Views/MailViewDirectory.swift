internal import Bytes
internal import Mail
internal import Tree

/// A directory of `NAME.views/`.
protocol MailViewDirectory: DerivedItem {
  var sorted: SortedMailbox { get }
  /// Identifies the directory among the views of this mailbox.
  var place: UInt64 { get }
}

extension MailViewDirectory {
  var inode: UInt64 { sorted.file.inode(ViewPlace.folders ^ place) }
  var kind: Kind { .folder }
  var file: SourceState { sorted.file }
  var identity: UInt64 { place }
  var attributeCost: AttributeCost { .small }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
    sorted.file.attributes.view(inode: inode, kind: .folder, size: 0)
  }

  func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    sorted.file.provenance(view: SortedMailbox.view, sorted.mailbox.fault)
  }

  /// Returns the directory of the message at a position, if `name` is its name.
  func messageFolder(at position: Int, named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    guard try sorted.name(at: position, blocking)?.text == name.bytes else { return nil }
    let folder = MessageFolder(
      try sorted.message(at: position, blocking), at: place, sorted.attachments.shape(at: position))
    return LookupResult(folder, try folder.attributes(blocking))
  }

  /// Returns entries for the directories of some messages. `next` is the offset after the first.
  func entries(
    of positions: some Collection<UInt32>, next: Int64, _ blocking: BlockingMode
  ) throws(Fault) -> [ListedEntry] {
    var entries: [ListedEntry] = []
    entries.reserveCapacity(positions.count)
    for position in positions {
      guard let name = try sorted.name(at: Int(position), blocking) else { break }
      entries.append(
        ListedEntry(
          name: ListedName(FileName(name.text)),
          inode: ShownMessage.folderInode(sorted.file, name.serial, at: place), kind: .folder,
          next: next + Int64(entries.count)))
    }
    return entries
  }
}

/// The identifiers of the directories of a mailbox's views.
enum ViewPlace {
  /// Avoids collisions with the inode numbers of other views of the file.
  static let folders: UInt64 = 0x7669_6577 << 32

  static func of(_ sorting: UInt8, _ path: ArraySlice<UInt8>) -> UInt64 {
    var hash = StableHash(seed: folders).adding(UInt64(sorting))
    hash.combine(path)
    return hash.value
  }
}
