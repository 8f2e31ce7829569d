package import Bytes
internal import Files
package import Index
package import Jobs
internal import Mail
package import Tree

/// Indexes mailboxes ahead of their first use, and reports what is indexed.
package final class Indexing: Sendable {
  package let index: Index
  let mailboxes: Mailboxes
  private let view: MessagesView

  /// - Parameter attached: The extractor of attachments' text. Nil if attachments are not indexed.
  /// - Parameter stores: Nil if no program that reads Outlook files is available.
  package init(index: Index, attached: AttachedTexts? = nil, stores: MailStores? = nil) {
    self.index = index
    mailboxes = Mailboxes(index: index, yieldsToReaders: false, attached: attached)
    view = MessagesView(listing: ViewListing(), mailboxes, stores: stores)
  }

  /// Stops the running searches. Their results so far are kept.
  package func stop() { mailboxes.stop() }

  /// A search for the messages of a mailbox or directory, with its progress.
  package final class Search: Sendable {
    let mailbox: any MessageSource

    init(_ mailbox: any MessageSource) { self.mailbox = mailbox }

    /// The names on the path of the mailbox. If a directory is searched, its own name is the first.
    package var way: [FileName] { mailbox.file.source.way }
    /// The size of the file, in bytes.
    package var size: Int64 { mailbox.file.attributes.size }
    /// The progress of the search: bytes read, messages found, and whether it is over.
    package var reach: (bytes: Int64, messages: Int, isDone: Bool) { mailbox.reach }
    /// The fault that ended the search before the file's end, if any.
    package var fault: Fault? { mailbox.fault }
    /// Whether the results are stored for the next mount.
    package var isKept: Bool { mailbox.isKept }
  }

  /// Starts the search of one file. Blocks until its first messages are found, or all messages of a mail store. Returns
  /// `nil` if the file is not a mailbox.
  package func search(_ name: FileName, in root: RealRoot) throws(Fault) -> Search? {
    try search(Source(name, in: RealFolder(root: root)))
  }

  private func search(_ source: Source) throws(Fault) -> Search? {
    guard let mailbox = try view.messages(in: source, .blocking) else { return nil }
    _ = try mailbox.rows(ofBlock: 0, .blocking)
    // A store's list is read only as far as requested.
    if mailbox is MailStore { _ = try mailbox.count(.blocking) }
    return Search(mailbox)
  }

  /// Returns the messages of the files in the directory `root`, called `name`. Blocks until their headers have been
  /// read. Returns `nil` if there are none.
  package func search(folder root: RealRoot, named name: FileName) throws(Fault) -> Search? {
    try search(folder: Source(root, named: name))
  }

  private func search(folder source: Source) throws(Fault) -> Search? {
    guard let folder = try mailboxes.ownMessages(in: source) else { return nil }
    for first in stride(from: 0, to: try folder.count(.blocking), by: BlockIndex.blockSize) {
      _ = try folder.rows(ofBlock: first / BlockIndex.blockSize, .blocking)
    }
    return Search(folder)
  }

  /// Starts the search of each mailbox and Maildir that a mount of the directory `root`, called `name`, would list, one
  /// after the other. Calls `body` with its path in `root` and the search, or the fault that prevented it. Blocks.
  package func searchAll(
    below root: RealRoot, named name: FileName, _ body: (String, Result<Search, Fault>) -> Void
  ) throws(Fault) {
    var folders: [(folder: Node, path: String)] = [(try Source(root, named: name).asFolder, "")]
    while let (folder, path) = folders.popLast() {
      // A directory that cannot be read is skipped.
      guard let listing = try? folder.item.listing(.blocking) else { continue }
      var place: Int64 = 0
      while let entries = try? listing.entries(after: place, .blocking), let last = entries.last {
        place = last.next
        for entry in entries {
          let name = entry.name.fileName
          if entry.kind == .folder, let inner = try? Source(name, in: folder), inner.item is RealFolder {
            folders.append((inner.asFolder, path + name.text + "/"))
            searchMaildir(inner) { body(path + name.text, $0) }
          }
          guard entry.kind == .file, isListed(name, in: folder) else { continue }
          do throws(Fault) {
            if let search = try search(Source(name, in: folder)) { body(path + name.text, .success(search)) }
          } catch { body(path + name.text, .failure(error)) }
        }
      }
    }
  }

  private func searchMaildir(_ source: Source, _ body: (Result<Search, Fault>) -> Void) {
    do throws(Fault) {
      guard try source.folder.item.hasFolders(MailFileList.maildir, in: source.name, .blocking) else { return }
      if let search = try search(folder: source) { body(.success(search)) }
    } catch { body(.failure(error)) }
  }

  private func isListed(_ name: FileName, in folder: Node) -> Bool {
    if let fileExtension = name.fileExtension { return view.listedExtensions.contains(fileExtension) }
    guard let source = try? Source(name, in: folder), source.attributes.size > 0,
      let head = try? source.head(.blocking)
    else { return false }
    return view.isListed(besideFileStartingWith: head)
  }

  // MARK: Contents

  /// The index's contents for one file.
  package struct Entry: Sendable {
    /// The file's path when it was indexed. Nil if only its device and inode are known.
    package var path: String?
    /// The number of messages. Nil if the file is not a mailbox.
    package var messages: Int?
    /// The size of the file when it was indexed, in bytes. Nil if unknown.
    package var fileSize: Int64?
    /// The size of its records in the index, in bytes.
    package var size: Int64
    /// The time of the last use, in seconds since 1970.
    package var usedAt: Int64
  }

  /// Returns one entry for each file in the index.
  package func entries() -> [Entry] {
    var entries: [[UInt8]: Entry] = [:]
    let others = [ResultSizes.kind.number, NumberStore.kind.number, IndexKind.elsewhere.number]
    for content in index.contents() where !others.contains(content.kind) {
      var entry =
        entries[content.source]
        ?? Entry(size: index.textSize(ofSourcesStartingWith: content.source), usedAt: content.usedAt)
      entry.size = Bounds.sum(entry.size, content.size)
      if let known = MailboxStore.summary(of: content, in: index) {
        (entry.path, entry.messages, entry.fileSize) = known
      } else if let known = FolderStore.summary(of: content, in: index) {
        (entry.path, entry.messages) = known
      }
      entries[content.source] = entry
    }
    return entries.values.sorted { ($0.path ?? "~", $0.usedAt) < ($1.path ?? "~", $1.usedAt) }
  }

  /// Removes everything from the index. Returns the number of files that `entries` listed.
  package func forgetAll() throws(Fault) -> Int {
    let count = entries().count
    _ = try index.forget(sourcesStartingWith: [])
    return count
  }

  /// Removes all records of a file, in any state, from the index, and its conversion results from `renditions`. Returns
  /// whether the index had any.
  package func forget(
    _ name: FileName, in root: RealRoot, renditions: DiskCache? = nil
  ) throws(Fault) -> Bool {
    let status = try RealFolder(root: root).status(of: name)
    let prefix = IndexedFile.prefix(device: status.device, inode: status.inode)
    let source = try Source(name, in: RealFolder(root: root))
    let recipes = ResultSizes.recipes(ofState: source.revision, in: index)
    // First, because the index cannot be changed on a full disk.
    if let identity = try? source.open(.blocking).identity {
      for recipe in recipes { renditions?.forget(recipe, of: identity) }
    }
    let count = try index.forget(sourcesStartingWith: prefix)
    NumberStore.forget(ofFile: source, in: index)
    ResultSizes.forget(state: source.revision, in: index)
    return count > 0 || !recipes.isEmpty
  }
}
