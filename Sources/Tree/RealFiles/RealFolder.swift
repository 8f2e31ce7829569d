package import Bytes
package import Files
internal import Glibc
internal import Locks
internal import Synchronization

/// The path from the root to a real directory. Stores names, so that no descriptor has to stay open. The root has no
/// parent.
final class RealPath: Sendable {
  let root: RealRoot
  private let position: Position<RealPath>
  /// The device and inode number of the directory found at the path. If another one replaces it, opening throws ESTALE.
  /// `nil` for the root.
  private let found: (device: UInt64, inode: UInt64)?
  fileprivate var identity: (device: UInt64, inode: UInt64) {
    if let found { return found }
    let opened = root.opened
    return (opened.device, opened.inode)
  }

  init(root: RealRoot) {
    self.root = root
    position = Position(nil, ".")
    found = nil
  }

  init(_ parent: RealPath, _ name: FileName, _ status: FileStatus) {
    root = parent.root
    position = Position(parent, name)
    found = (status.device, status.inode)
  }

  /// The name of the directory. `nil` if it is not known.
  fileprivate var ownName: FileName? {
    let value = position.value
    return value.folder == nil ? root.ownName : value.name
  }

  private let removed = UnfairLock<RemovedFolder?>(nil)

  /// Records that the name was removed.
  func remove(_ folder: RemovedFolder) { removed.withLock { $0 = folder } }

  /// Records a rename.
  func move(to folder: RealPath, _ name: FileName) { position.move(to: folder, name) }

  func open(for purpose: Descriptor.Purpose) throws(Fault) -> Descriptor {
    if let removed = removed.withLock({ $0 }) { return try removed.open(for: purpose) }
    var names: [FileName] = []
    var step = position.value
    while let parent = step.folder {
      names.append(step.name)
      step = parent.position.value
    }
    let base = root.opened
    var opened: Descriptor?
    // A system call accepts at most PATH_MAX bytes. A deeper directory needs several calls.
    while let first = names.popLast() {
      var path = Array(first.bytes)
      while let next = names.last, path.count + 1 + next.count < Int(PATH_MAX) {
        path.append(UInt8(ascii: "/"))
        path.append(contentsOf: next.bytes)
        names.removeLast()
      }
      let from = opened?.raw ?? base.descriptor.raw
      opened = try Descriptor.open(below: from, path: FileName(path), for: names.isEmpty ? purpose : .place)
    }
    guard let result = opened.take() else {
      return try Descriptor.open(below: base.descriptor.raw, path: position.name, for: purpose)
    }
    let status = try result.status()
    guard let found, status.inode == found.inode, status.device == found.device else { throw .stale }
    return result
  }
}

/// A directory of the source.
package final class RealFolder: Item {
  let path: RealPath
  package let inode: UInt64
  /// An O_PATH descriptor.
  let place: PooledDescriptor
  package var kind: Kind { .folder }
  package var isImmutable: Bool { false }

  init(_ path: RealPath, inode: UInt64) {
    self.path = path
    self.inode = inode
    place = PooledDescriptor(path.root.pool) { () throws(Fault) in try path.open(for: .place) }
  }

  package convenience init(root: RealRoot) throws(Fault) {
    try self.init(RealPath(root: root), inode: root.inode(root.opened.descriptor.status()))
  }

  /// Opens the directory so that it stays reachable after its name is removed.
  func hold() { try? place.withDescriptor { _ in } }

  /// Starts watching the directory for changed files. Returns `nil` if the kernel does not report them.
  package func watchChanges() -> ChangeWatch? {
    (try? place.withDescriptor { (descriptor) throws(Fault) in ChangeNotices.shared.watch(descriptor) }) ?? nil
  }

  package func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
    Attributes(try status(), inode: inode)
  }

  /// The name of the directory. `nil` if it is not known.
  package var ownName: FileName? { path.ownName }

  /// The current absolute path, as `absolutePath(of:)` returns it.
  package var absolutePath: String? {
    (try? place.withDescriptor { (descriptor) throws(Fault) in Files.absolutePath(of: descriptor) }) ?? nil
  }

  /// The key for records of the directory. Reads the creation time on each access.
  package var identity: FolderIdentity {
    let (device, inode) = path.identity
    return FolderIdentity(
      device: path.root.identified(device), inode: inode, created: (try? status())?.created?.hashed ?? 0)
  }

  func status() throws(Fault) -> FileStatus {
    try place.withDescriptor { (descriptor) throws(Fault) in try FileStatus(of: descriptor) }
  }

  package func status(of name: FileName) throws(Fault) -> FileStatus {
    try place.withDescriptor { (descriptor) throws(Fault) in try FileStatus(of: name, in: descriptor) }
  }

  /// Returns whether this process can read an entry, and search it if it is a directory.
  package func isReadable(_ name: FileName, isFolder: Bool) -> Bool {
    (try? place.withDescriptor { (descriptor) throws(Fault) in
      unsafe name.withCString { unsafe faccessat(descriptor, $0, R_OK | (isFolder ? X_OK : 0), AT_EACCESS) == 0 }
    }) ?? false
  }

  /// Opens a file of this directory.
  package func open(_ name: FileName, for purpose: Descriptor.Purpose) throws(Fault) -> Descriptor {
    var opened: Descriptor?
    try place.withDescriptor { (place) throws(Fault) in
      opened = try Descriptor.open(below: place, path: name, for: purpose)
    }
    guard let result = opened.take() else { throw .stale }
    return result
  }

  package func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    guard let status = try ifThere({ () throws(Fault) in try status(of: name) }) else { return nil }
    let inode = path.root.inode(status)
    let item: any Item =
      status.type == S_IFDIR
      ? RealFolder(RealPath(path, name, status), inode: inode)
      : RealFile(self, name, status)
    return LookupResult(item, Attributes(status, inode: inode))
  }

  /// Returns the kind of an entry, or `unknown` if its attributes cannot be read. Returns `nil` if the name no longer
  /// exists.
  fileprivate func kind(of name: FileName) -> Kind? {
    do throws(Fault) {
      return try ifThere { () throws(Fault) in try status(of: name) }.map { Kind($0.type) }
    } catch { return .unknown }
  }

  private func ifThere(_ status: () throws(Fault) -> FileStatus) throws(Fault) -> FileStatus? {
    do throws(Fault) { return try status() } catch {
      if error.kind == .system(ENOENT) { return nil }
      throw error
    }
  }

  package func attributes(of name: ListedName, _ blocking: BlockingMode) throws(Fault) -> Attributes? {
    let status = try ifThere { () throws(Fault) in
      try place.withDescriptor { (descriptor) throws(Fault) in try FileStatus(of: name, in: descriptor) }
    }
    return status.map { Attributes($0, inode: path.root.inode($0)) }
  }

  package func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor { try RealListing(self) }

  /// Returns whether an entry is a directory with all these subdirectories. One system call suffices for most
  /// directories, which have no subdirectories or none of the first name. Returns `false` for the root of another
  /// mounted file system, which might not respond.
  package func hasFolders(_ names: [FileName], in entry: FileName, _ blocking: BlockingMode) throws(Fault) -> Bool {
    guard
      try place.withDescriptor({ (descriptor) throws(Fault) in
        FileStatus.mayHoldFolders(names.count, in: entry, of: descriptor)
      })
    else { return false }
    for name in names {
      let path = FileName(Array(entry.bytes) + [UInt8(ascii: "/")] + name.bytes)
      guard let status = try? status(of: path), status.type == S_IFDIR else { return false }
    }
    return true
  }

  package func extendedAttribute(_ name: FileName, _ blocking: BlockingMode) throws(Fault) -> [UInt8] {
    try extendedAttribute(name, of: "")
  }

  package func extendedAttributeNames(_ blocking: BlockingMode) throws(Fault) -> [UInt8] {
    try extendedAttributeNames(of: "")
  }

  /// The identity for records that are stored on a disk. Nil for a view in another mount of ffmount, which may show
  /// what a password opened there.
  package var lastingIdentity: FolderIdentity? { (try? isView("", inode)) ?? true ? nil : identity }

  /// Returns whether an entry is a view in another mount of ffmount. The inode numbers of views have the top bit. The
  /// name of the folder itself is empty.
  package func isView(_ name: FileName, _ inode: UInt64) throws(Fault) -> Bool {
    guard inode >> 63 != 0 else { return false }
    return try unlessDelayed { () throws(Fault) in try extendedAttribute("user.ffmount.view", of: name) } != nil
  }

  /// Returns whether an entry is a view in another mount of ffmount, and of a file in this folder.
  func isViewBesideSource(_ name: FileName, _ inode: UInt64) throws(Fault) -> Bool {
    guard try isView(name, inode) else { return false }
    if try isView("", self.inode) { return false }
    return try status().device == status(of: name).device
  }

  package func accessList() throws(Fault) -> AccessList? { try accessList(of: "") }

  package func accessList(of name: FileName) throws(Fault) -> AccessList? {
    try AccessList.ifThere { () throws(Fault) in try extendedAttribute(AccessList.attribute, of: name) }
  }

  package func extendedAttribute(_ attribute: FileName, of name: FileName) throws(Fault) -> [UInt8] {
    try place.withDescriptor { (descriptor) throws(Fault) in
      try ExtendedAttributes.value(attribute, of: name, in: descriptor)
    }
  }

  package func extendedAttributeNames(of name: FileName) throws(Fault) -> [UInt8] {
    try place.withDescriptor { (descriptor) throws(Fault) in try ExtendedAttributes.names(of: name, in: descriptor) }
  }
}

private final class RealListing: DirectoryCursor {
  private let descriptor: PooledDescriptor
  private let folder: RealFolder
  /// The descriptor's current offset. Negative before its first read.
  private let position: Position

  private static let unread: Int64 = -1
  /// The capacity of a read of `.`, in bytes.
  private static let smallest = 512

  private final class Position: Sendable {
    let place = Atomic<Int64>(RealListing.unread)
  }

  init(_ folder: RealFolder) throws(Fault) {
    let (path, position) = (folder.path, Position())
    self.folder = folder
    self.position = position
    descriptor = PooledDescriptor(path.root.pool, opened: try path.open(for: .listing)) { () throws(Fault) in
      position.place.store(Self.unread, ordering: .relaxed)
      return try path.open(for: .listing)
    }
  }

  // Not thread-safe: the caller, `DirectoryHandle`, serializes calls.
  func entries(after place: Int64, _ blocking: BlockingMode) throws(Fault) -> [ListedEntry] {
    let position = position
    var block = try descriptor.withDescriptor { (descriptor) throws(Fault) in
      let current = position.place.load(ordering: .relaxed)
      // If the first read of a descriptor is at the end of a directory, ext4 has no entries at offset 0 either.
      if current == Self.unread, place != 0 {
        _ = try DirectoryBlock(of: descriptor, from: nil, capacity: Self.smallest)
      }
      return try DirectoryBlock(of: descriptor, from: max(0, current) == place ? nil : place)
    }
    var entries: [ListedEntry] = []
    entries.reserveCapacity(block.estimatedCount)
    while let entry = try block.next() {
      let kind: Kind
      switch Int32(entry.type) {
      case Int32(DT_REG): kind = .file
      case Int32(DT_DIR): kind = .folder
      case Int32(DT_LNK): kind = .link
      case Int32(DT_FIFO): kind = .fifo
      case Int32(DT_SOCK): kind = .socket
      case Int32(DT_CHR): kind = .characterDevice
      case Int32(DT_BLK): kind = .blockDevice
      default:
        // DT_UNKNOWN.
        guard let found = folder.kind(of: entry.name.fileName) else { continue }
        kind = found
      }
      entries.append(ListedEntry(name: entry.name, inode: entry.inode, kind: kind, next: entry.next))
    }
    position.place.store(block.last ?? place, ordering: .relaxed)
    // The block contained only `.` and `..` but was not the last one.
    if entries.isEmpty, let last = block.last, last != place { return try self.entries(after: last, blocking) }
    return entries
  }
}

extension Timestamp {
  /// The time in nanoseconds since 1970, modulo 2^64.
  var hashed: UInt64 { UInt64(bitPattern: seconds &* 1_000_000_000 &+ Int64(nanoseconds)) }
}

extension Kind {
  /// Creates the kind for the type bits of a mode, as in `st_mode`.
  package init(_ type: UInt32) {
    switch type {
    case S_IFDIR: self = .folder
    case S_IFLNK: self = .link
    case S_IFIFO: self = .fifo
    case S_IFSOCK: self = .socket
    case S_IFCHR: self = .characterDevice
    case S_IFBLK: self = .blockDevice
    default: self = .file
    }
  }
}

extension Attributes {
  package init(_ status: FileStatus, inode: UInt64) {
    let raw = status.raw
    self.init(
      inode: inode, kind: Kind(status.type), permissions: UInt16(raw.st_mode & 0o7777),
      links: UInt32(clamping: raw.st_nlink),
      owner: raw.st_uid, group: raw.st_gid, size: status.size, allocated: Int64(raw.st_blocks),
      accessed: status.accessed, modified: status.modified, changed: status.changed, device: UInt64(raw.st_rdev))
  }
}
