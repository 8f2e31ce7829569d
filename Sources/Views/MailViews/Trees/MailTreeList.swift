internal import Bytes
internal import Files
internal import Mail
internal import Tree

/// The mailboxes in a directory and in all directories below it, as found by a walk.
///
/// A directory of message files is a mailbox, as is each file that is one: by its extension, or by its first bytes if
/// it has no extension or has an index of Thunderbird's (`Archive.2023.msf`) beside it. Links are not followed.
/// Directories whose names start with a dot are skipped, except in a Maildir.
struct MailTreeList: Sendable {
  /// A mailbox.
  struct Part: Sendable {
    let label: MailLabel
    let source: Source
    /// Nil for a file.
    let files: MessageFiles?
    /// Keeps the directory's cache entry alive.
    fileprivate let anchor: DirectoryScanCache<MessageFiles>.Known?

    /// Identifies its state.
    var state: UInt64 { files?.state ?? source.state(source.revision) }
  }

  /// The cache and the functions that a walk uses.
  struct Finder: Sendable {
    let folders: DirectoryScanCache<MessageFiles>
    /// Returns the mailbox that a file is or contains. Returns `nil` for other files.
    let mailbox: @Sendable (Source) throws(Fault) -> Source?
    /// Returns whether a file's name is that of a mailbox.
    let isMailbox: @Sendable (FileName) -> Bool
  }

  private(set) var parts: [Part] = []
  private(set) var folders: [DirectoryStamp] = []
  /// The rights to read all of it.
  private(set) var rights: CommonRights
  /// The entries that this process cannot read, which have no mail.
  private var unreadable: [Entry] = []
  private let finder: Finder
  private var names = 0

  /// The maximum depth of the walk, and the maximum numbers of names and of mailboxes.
  private static let depth = 48
  private static let mostNames = 1 << 24
  private static let mostParts = 1 << 14

  /// Walks through a directory. Blocks.
  init(_ folder: Source, _ finder: Finder) throws(Fault) {
    self.finder = finder
    rights = CommonRights(folder.attributes, try folder.item.accessList(), wanted: 5)
    try visit(folder, MailLabel(), depth: 0)
  }

  /// Whether the directory's own messages are its only mailbox.
  var isSingle: Bool { parts.count == 1 && parts[0].files != nil && parts[0].label.text.isEmpty }

  /// Returns whether the directories and mailboxes are unchanged.
  func isPresent() throws(Fault) -> Bool {
    for folder in folders where try !folder.isPresent() { return false }
    if unreadable.contains(where: \.isReadable) { return false }
    for part in parts {
      if let files = part.files {
        guard try finder.folders.files(of: part.source.item, .blocking)?.state == files.state else { return false }
      } else if let now = try part.source.now(isDoubted: false, .blocking) {
        guard now.revision == part.source.revision else { return false }
      }
    }
    return true
  }

  // MARK: Walk

  private struct Entry: Sendable {
    let folder: RealFolder
    let name: FileName
    let isFolder: Bool

    var isReadable: Bool { folder.isReadable(name, isFolder: isFolder) }
  }

  /// Returns whether an entry of a directory can be read. Records one that cannot.
  private mutating func canRead(_ name: FileName, isFolder: Bool, in folder: any Item) -> Bool {
    guard let real = folder as? RealFolder else { return true }
    let entry = Entry(folder: real, name: name, isFolder: isFolder)
    if entry.isReadable { return true }
    unreadable.append(entry)
    return false
  }

  /// The relevant names in a directory.
  private struct Names {
    var folders: [FileName] = []
    var mailboxes: [FileName] = []
    var hasMessages = false

    var isMaildir: Bool { folders.contains("cur") && folders.contains("tmp") }
  }

  private mutating func visit(_ folder: Source, _ label: MailLabel, depth: Int) throws(Fault) {
    var watched = try DirectoryStamp(folder.item)
    let before = Timestamp.now
    let found = try names(in: folder.item)
    let node = folder.asFolder
    if found.hasMessages || found.isMaildir, let files = try finder.folders.files(of: folder.item, .blocking) {
      let known = finder.folders.entry(folder.item)
      parts.append(Part(label: label, source: folder, files: files, anchor: known))
      rights.narrow(to: files.list.rights)
    }
    for name in found.mailboxes.sorted(by: Self.isBefore) {
      try CancellationToken.check()
      guard let file = try folder.item.child(named: name, .blocking), file.attributes.kind == .file,
        file.attributes.size > 0, canRead(name, isFolder: false, in: folder.item)
      else { continue }
      let source = Source(item: file.item, attributes: file.attributes, name: name, folder: node)
      // A file that cannot be read is not a mailbox.
      guard let mailbox = try unlessDelayed({ () throws(Fault) in try finder.mailbox(source) }) ?? nil else { continue }
      guard parts.count < Self.mostParts else { throw Fault(.limit, "it has more than \(Self.mostParts) mailboxes") }
      parts.append(Part(label: label.mailbox(name), source: mailbox, files: nil, anchor: nil))
      rights.narrow(to: CommonRights(file.attributes, try file.item.accessList(), wanted: 4))
    }
    // Mail programs do not nest directories any deeper.
    guard depth < Self.depth else { return }
    for name in found.folders.sorted(by: Self.isBefore) {
      if found.isMaildir, MailFileList.maildir.contains(name) { continue }
      if !found.isMaildir, name.bytes.first == UInt8(ascii: ".") { continue }
      guard let inner = try folder.item.child(named: name, .blocking), inner.attributes.kind == .folder,
        canRead(name, isFolder: true, in: folder.item)
      else { continue }
      let count = parts.count
      let outer = rights
      let source = Source(item: inner.item, attributes: inner.attributes, name: name, folder: node)
      rights.narrow(to: CommonRights(inner.attributes, try inner.item.accessList(), wanted: 5))
      try visit(source, label.folder(name, isInMaildir: found.isMaildir), depth: depth + 1)
      // A directory without mail does not restrict the rights.
      if parts.count == count { rights = outer }
    }
    _ = try watched.settle(before)
    folders.append(watched)
  }

  private static func isBefore(_ one: FileName, _ other: FileName) -> Bool {
    one.bytes.lexicographicallyPrecedes(other.bytes)
  }

  private mutating func names(in folder: any Item) throws(Fault) -> Names {
    var found = Names()
    let listing = try folder.listing(.blocking)
    var offset: Int64 = 0
    while true {
      try CancellationToken.check()
      let entries = try listing.entries(after: offset, .blocking)
      guard let last = entries.last else { return found }
      offset = last.next
      names += entries.count
      guard names <= Self.mostNames else { throw Fault(.limit, "it has more than \(Self.mostNames) names") }
      for entry in entries {
        if entry.kind == .folder { found.folders.append(entry.name.fileName) }
        guard entry.kind == .file else { continue }
        let fileExtension = entry.name.fileExtension
        if MailFile.isMessage(entry.name) {
          found.hasMessages = true
        } else if fileExtension == "msf" {
          // The mailbox is beside its index.
          let name = FileName(entry.name.bytes.dropLast(4))
          if !isTaken(name) { found.mailboxes.append(name) }
        } else {
          let name = entry.name.fileName
          if fileExtension == nil, MailFile.isNumber(name) || name == ".mh_sequences" {
            found.hasMessages = true
          } else if isTaken(name) {
            found.mailboxes.append(name)
          }
        }
      }
    }
  }

  /// Returns whether a file of this name may be a mailbox, regardless of the files beside it.
  private func isTaken(_ name: FileName) -> Bool {
    guard name.bytes.first != UInt8(ascii: ".") else { return false }
    return name.fileExtension == nil || finder.isMailbox(name)
  }
}
