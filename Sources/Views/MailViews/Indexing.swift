package import Bytes
package import Conversion
internal import Files
package import Index
internal import Mail
package import Tree

/// Finds out ahead of time what the first look into a mailbox would, and tells what is known already.
package final class Indexing: Sendable {
  private let index: Index
  let mailboxes: Mailboxes
  private let view: MessagesView

  package init(index: Index) {
    self.index = index
    mailboxes = Mailboxes(index: index, yieldsToReaders: false)
    view = MessagesView(listing: ViewListing(), mailboxes)
  }

  /// Ends the searches that are going on; what they found is kept.
  package func stop() { mailboxes.stop() }

  /// The search through a mailbox for its messages, which has begun.
  package final class Search: Sendable {
    let mailbox: Mailbox

    init(_ mailbox: Mailbox) { self.mailbox = mailbox }

    /// Of the file, in bytes.
    package var size: Int64 { mailbox.file.attributes.size }
    /// How far the search has come: bytes looked through, messages found, and whether it is over.
    package var reach: (bytes: Int64, messages: Int, isDone: Bool) { mailbox.reach }
    /// What ended the search before the file's end.
    package var fault: Fault? { mailbox.fault }
    /// Whether the next mount will find what was found.
    package var isKept: Bool { mailbox.isKept }
  }

  /// Begins the search through one file; nil for one that is no mailbox. Blocks until its first messages are found.
  package func search(_ name: FileName, in root: RealRoot) throws(Fault) -> Search? {
    try search(name, in: RealFolder(root: root))
  }

  private func search(_ name: FileName, in folder: RealFolder) throws(Fault) -> Search? {
    let source = try Source(name, in: folder)
    guard try view.item(of: source, ViewRequest(source: name), .blocking) != nil else { return nil }
    let mailbox = mailboxes.mailbox(of: source)
    _ = try mailbox.rows(ofBlock: 0, .blocking)
    return Search(mailbox)
  }

  /// Begins the search through each mailbox that a mount of `root` would list, one after the other, and calls `body` with
  /// its path and the search or what kept it from beginning. Blocks.
  package func searchAll(below root: RealRoot, _ body: (String, Result<Search, Fault>) -> Void) throws(Fault) {
    var folders: [(folder: RealFolder, path: String)] = [(try RealFolder(root: root), "")]
    while let (folder, path) = folders.popLast() {
      // Of a folder that cannot be read there is nothing to be found.
      guard let listing = try? folder.listing(.blocking) else { continue }
      var place: Int64 = 0
      while let entries = try? listing.entries(after: place, .blocking), let last = entries.last {
        place = last.next
        for entry in entries {
          let name = entry.name.fileName
          if entry.kind == .folder, let found = try? folder.child(named: name, .blocking),
            let inner = found.item as? RealFolder
          {
            folders.append((inner, path + name.text + "/"))
          }
          guard entry.kind == .file, isListed(name, in: folder) else { continue }
          do throws(Fault) {
            if let search = try search(name, in: folder) { body(path + name.text, .success(search)) }
          } catch { body(path + name.text, .failure(error)) }
        }
      }
    }
  }

  private func isListed(_ name: FileName, in folder: RealFolder) -> Bool {
    if let fileExtension = name.fileExtension { return view.listedExtensions.contains(fileExtension) }
    guard let source = try? Source(name, in: folder), source.attributes.size > 0,
      let head = try? source.head(.blocking)
    else { return false }
    return view.isListed(besideFileStartingWith: head)
  }

  // MARK: What is known

  /// What the index holds of one file.
  package struct Entry: Sendable {
    /// The file's path when it was looked through; nil where only its numbers are known.
    package var path: String?
    /// nil for what is no mailbox.
    package var messages: Int?
    /// Of the file when it was looked through, in bytes; nil where that is not known.
    package var fileSize: Int64?
    /// In the index, in bytes.
    package var size: Int64
    /// In seconds since 1970.
    package var usedAt: Int64
  }

  /// One entry for each file that the index knows something of.
  package func entries() -> [Entry] {
    var entries: [[UInt8]: Entry] = [:]
    for content in index.contents() where content.kind != KnownValues.kind.number {
      var entry =
        entries[content.source]
        ?? Entry(size: index.textSize(ofSourcesStartingWith: content.source), usedAt: content.usedAt)
      entry.size = Bounds.sum(entry.size, content.size)
      if let known = MailboxStore.summary(of: content, in: index) {
        (entry.path, entry.messages, entry.fileSize) = known
      }
      entries[content.source] = entry
    }
    return entries.values.sorted { ($0.path ?? "~", $0.usedAt) < ($1.path ?? "~", $1.usedAt) }
  }

  /// Forgets all that the index knows of a file, whatever its state was; gives whether that was anything.
  package func forget(
    _ name: FileName, in root: RealRoot, renditions: RenditionCache? = nil
  ) throws(Fault) -> Bool {
    let status = try RealFolder(root: root).status(of: name)
    let count = index.forget(sourcesStartingWith: IndexedFile.prefix(device: status.device, inode: status.inode))
    let source = try Source(name, in: RealFolder(root: root))
    let recipes = KnownValues.recipes(ofState: source.revision, in: index)
    KnownValues.forget(state: source.revision, in: index)
    if let identity = try? source.open(.blocking).identity {
      for recipe in recipes { renditions?.forget(recipe, of: identity) }
    }
    return count > 0 || !recipes.isEmpty
  }
}
