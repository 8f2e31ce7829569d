import Bytes
import Glibc
import Locks
import ServerAnswers
import Threads
import Tree

/// A file, directory or link of the server's tree.
///
/// It represents the item that was found first. Once the server reports another modification time or type, the name
/// stands for another item. Views are made by the server, not here.
final class RemoteItem: Item {
  let server: RemoteServer
  /// The directory that contains the item. Nil for the root.
  let folder: FolderState?
  let told: ServerItem
  /// The record of the item's bytes, created on demand.
  private let held: UnfairLock<FileRecord?>
  /// The entries of a directory.
  let entries: FolderState?
  /// Whether the item is a view, or in one.
  let isView: Bool
  let inode: UInt64
  let kind: Kind

  /// Creates an entry of a directory whose inode number is `parent`.
  init(_ item: ServerItem, in folder: FolderState, parent: UInt64) {
    server = folder.server
    self.folder = folder
    told = item
    kind = folder.server.links.kind(of: item, depth: folder.depth)
    held = UnfairLock(nil)
    isView = folder.isView || item.view != nil
    inode = Self.inode(item.name, in: parent)
    entries =
      kind == .folder ? FolderState(folder.path(of: item.name), folder.server, isView: isView, inode: inode) : nil
  }

  /// Creates the root from the server's response.
  init(root item: ServerItem, of server: RemoteServer) {
    self.server = server
    folder = nil
    told = item
    kind = .folder
    held = UnfairLock(nil)
    isView = false
    inode = Self.inode(FileName(server.address.text), in: 1)
    entries = FolderState([UInt8(ascii: "/")], server, isView: false, inode: inode)
  }

  /// Returns an inode number that is the same in every mount of the server. The server's own numbers are those of its
  /// machine.
  static func inode(_ name: FileName, in parent: UInt64) -> UInt64 {
    var hash = StableHash(seed: parent)
    hash.combine(name.bytes)
    return hash.value | 1 << 63
  }

  var path: [UInt8] { entries?.path ?? folder?.path(of: told.name) ?? [] }

  var record: FileRecord {
    held.withLock { held in
      let record = held ?? FileRecord.of(path, server)
      held = record
      return record
    }
  }

  /// The record of the item's bytes, if it has been created.
  private var knownRecord: FileRecord? { held.withLock { $0 } }

  var isImmutable: Bool { false }
  var listsViews: Bool { false }
  /// The cost is none if attributes arrive with the names.
  var attributeCost: AttributeCost { server.interface.listsAttributes ? .none : .large }

  /// The version of the content. Nil for a directory, whose entries change: it stays the same while it has the name. So
  /// does a file that the mount can change.
  var content: UInt64? {
    if kind == .folder { return isChangeable || server.changes == nil ? nil : inode }
    var hash = StableHash(seed: inode)
    if !isChangeable {
      hash.combine(UInt64(bitPattern: told.modified.seconds))
      hash.combine(UInt64(UInt32(bitPattern: told.modified.nanoseconds)))
    }
    if let target = told.target { hash.combine(target) }
    if let tag = told.tag { hash.combine(tag.utf8) }
    return hash.value
  }

  // MARK: Attributes

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
    guard let folder else { return attributes(try server.root(knowing: told, blocking)) }
    if isChangeable {
      if let copy = server.changes?.staged(path) { return attributes(try copy.item(named: told.name)) }
      guard let now = try folder.item(told.name, blocking), now.kind == told.kind, now.target == told.target,
        now.failure == nil
      else { throw .stale }
      return attributes(now)
    }
    // Opening the item has just confirmed that it is unchanged.
    if let opened = knownRecord?.recent, agrees(opened) { return attributes(told) }
    guard let now = try folder.item(told.name, blocking), now.kind == told.kind,
      kind == .folder || now.modified == told.modified, now.target == told.target, agrees(now.tag), now.failure == nil
    else { throw .stale }
    return attributes(now)
  }

  private func agrees(_ opened: OpenedFile) -> Bool {
    // The times of a listing of S3 can differ from those of the objects.
    if let version = opened.version, let own = told.tag { return version == own }
    return (opened.modified.map { $0 == told.modified.seconds } ?? true)
  }

  /// Returns whether an entity tag can be that of this version.
  private func agrees(_ tag: String?) -> Bool { tag == nil || told.tag == nil || tag == told.tag }

  private func attributes(_ item: ServerItem) -> Attributes {
    var size: Int64
    var isEstimate = false
    switch item.size {
    case .exact(let exact): size = kind == .folder ? 0 : exact
    case .estimate(let estimate):
      size = estimate
      isEstimate = true
    }
    // The size of a file made for this reader is exact, whether or not the listing already contains it.
    if isEstimate, let opened = (knownRecord ?? server.files[path])?.opened, agrees(opened) {
      (size, isEstimate) = (opened.size, false)
    }
    let permissions: UInt16 =
      kind == .folder || kind == .file && item.isExecutable ? 0o755 : kind == .link ? 0o777 : 0o644
    var attributes = Attributes(
      inode: inode, kind: kind, permissions: permissions, links: 1, owner: geteuid(), group: getegid(), size: size,
      allocated: (size + 511) / 512, accessed: item.modified, modified: item.modified, changed: item.changed)
    attributes.isPreliminary = isEstimate
    return attributes
  }

  func accessList() throws(Fault) -> AccessList? { nil }

  // MARK: Bytes

  func open(pinned: Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    guard kind == .file else { throw kind == .folder ? .isFolder : .notOpened }
    if let target = told.target { return ByteArraySource(target) }
    // No version of an empty file is kept, because responses about it need not have its tag.
    if server.kept?.isOffline ?? false, told.size == .exact(0) { return ByteArraySource([]) }
    if let folder, !isView, SmallFiles.isSmall(told) {
      try folder.prepareContent(of: told.name, isKnown: record.recent != nil, blocking)
    }
    let opened = try record.open(blocking)
    guard isChangeable || agrees(opened) else {
      folder?.doubt(told.name)
      record.doubt()
      throw .stale
    }
    return RemoteBytes(record, opened)
  }

  /// Throws, because it is unknown whether another version has the same bytes.
  func openAgain(_ blocking: BlockingMode) throws(Fault) -> any ByteSource { throw .stale }

  func findSize(atAnyCost: Bool, _ blocking: BlockingMode) throws(Fault) {
    guard kind == .file, told.target == nil, atAnyCost || !isFilm else { return }
    _ = try record.open(blocking)
  }

  /// Whether making the file takes about as long as watching it.
  private var isFilm: Bool {
    let endings = ["mp4", "mkv", "webm", "mov", "avi", "m4v", "ogv", "ts", "mpg", "wmv", "flv", "gif"]
    return told.view.map { view in endings.contains { view.hasSuffix("-\($0)") } || view == "merged" } ?? false
  }

  func revision(_ attributes: Attributes) -> UInt64 {
    var hash = StableHash(seed: content ?? inode)
    hash.combine(UInt64(bitPattern: attributes.size))
    hash.combine(UInt64(bitPattern: attributes.modified.seconds))
    hash.combine(UInt64(UInt32(bitPattern: attributes.modified.nanoseconds)))
    if let tag = knownRecord?.opened?.version { hash.combine(tag.utf8) }
    return hash.value
  }

  func linkTarget(_ blocking: BlockingMode) throws(Fault) -> [UInt8] {
    guard kind == .link, let target = told.target else { throw .notLink }
    return target
  }

  // MARK: Entries

  func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    guard let entries else { throw .notFolder }
    if name.count > 255 { throw Fault(.system(ENAMETOOLONG)) }
    if let copy = server.changes?.staged(entries.path(of: name)) {
      let item = try copy.item(named: name)
      let found = RemoteItem(item, in: entries, parent: inode)
      return LookupResult(found, found.attributes(item))
    }
    guard ServerItem.isName(name.bytes), let item = try noting({ () throws(Fault) in try entries.item(name, blocking) })
    else { return nil }
    if let failure = item.failure { throw Fault(.system(EIO), failure) }
    let found = RemoteItem(item, in: entries, parent: inode)
    return LookupResult(found, found.attributes(item))
  }

  func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor {
    guard let entries else { throw .notFolder }
    let snapshot = try noting { () throws(Fault) in try entries.snapshot(blocking) }
    // Files that have not been sent yet.
    let unsent = (server.changes?.staged(below: entries.path) ?? []).compactMap { path, copy -> FileName? in
      guard copy.tag == nil, OwnChanges.parent(of: path) == entries.path else { return nil }
      let name = path.split(separator: UInt8(ascii: "/")).last.map { FileName($0) }
      return name.flatMap { snapshot[$0] == nil ? $0 : nil }
    }
    return RemoteListing(snapshot, of: inode, entries, unsent: unsent)
  }

  /// Records the reason of a failure until the next success.
  private func noting<Value>(_ body: () throws(Fault) -> Value) throws(Fault) -> Value {
    do throws(Fault) {
      let value = try body()
      knownRecord?.noteSuccess()
      return value
    } catch {
      record.note(error)
      throw error
    }
  }

  // MARK: Provenance

  func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    let item: ServerItem?
    do throws(Fault) {
      if let folder {
        item = try folder.single(told.name, blocking)
      } else {
        item = try server.root(knowing: told, .blocking)
      }
    } catch {
      if error.isDelay { throw error }
      record.note(error)
      return nil
    }
    guard let said = item?.provenance else { return nil }
    var provenance = Provenance(
      source: said.source, view: said.view, state: Provenance.State(rawValue: said.state) ?? .exact, error: said.error)
    (provenance.remark, provenance.also) = (said.remark, said.also)
    if provenance.error == nil, let failure {
      (provenance.state, provenance.error) = (.failed, failure)
    }
    return provenance
  }

  /// For a view, does not ask the server, which would convert its source.
  func knownProvenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    guard let view = told.view else { return try provenance(blocking) }
    return Provenance(source: "", view: view, state: .exact, error: failure)
  }

  /// The reason why the item cannot be read. The root, which is always accessible, reports that of the server.
  private var failure: String? {
    (folder == nil ? server.availability.failure : nil) ?? (knownRecord ?? server.files[path])?.failure
  }

  private static let error: FileName = "user.ffmount.error"

  /// Returns the reason why one of the server's own files cannot be read, the only attribute of such files.
  func extendedAttribute(_ name: FileName, _ blocking: BlockingMode) throws(Fault) -> [UInt8] {
    guard name == Self.error, let failure else { throw .noAttribute }
    return Array(failure.utf8)
  }

  func extendedAttributeNames(_ blocking: BlockingMode) throws(Fault) -> [UInt8] {
    guard failure != nil, try provenance(blocking) == nil else { return [] }
    return Array("user.ffmount.error\0".utf8)
  }
}

extension Kind {
  init(_ kind: ServerItem.Kind) {
    switch kind {
    case .file: self = .file
    case .folder: self = .folder
    case .link: self = .link
    case .fifo: self = .fifo
    case .socket: self = .socket
    case .characterDevice: self = .characterDevice
    case .blockDevice: self = .blockDevice
    }
  }
}
