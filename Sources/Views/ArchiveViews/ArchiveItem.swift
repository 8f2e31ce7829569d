internal import Bytes
internal import Entries
internal import Synchronization
internal import Tree

/// A file, directory or symbolic link in an archive. Node 0 is the view itself.
final class ArchiveItem: DerivedItem {
  private let archive: Archive
  private let index: UInt32
  let kind: Kind
  let identity: UInt64

  var file: SourceState { archive.file }
  let inode: UInt64

  /// Creates the item of the view itself.
  init(_ archive: Archive) {
    self.archive = archive
    index = ArchiveTree.root
    inode = archive.file.inode(archive.number, 0)
    kind = .folder
    identity = 0
  }

  private init(_ archive: Archive, _ tree: ArchiveTree, _ index: UInt32) {
    self.archive = archive
    self.index = index
    inode = ArchiveItem.inode(archive, tree, index)
    kind = Kind(tree.node(index).kind)
    identity = tree.archive.identity(index) ?? archive.file.state
  }

  /// Returns the inode number, which all names of one file share.
  private static func inode(_ archive: Archive, _ tree: ArchiveTree, _ index: UInt32) -> UInt64 {
    archive.file.inode(archive.number, UInt64(tree.entries.primary(of: index)))
  }

  /// Returns the archive's tree, which contains this item. The item does not retain it, so the tree can be evicted.
  private func tree(_ blocking: BlockingMode) throws(Fault) -> ArchiveTree {
    let tree = try archive.tree(blocking)
    guard Int(index) < tree.count, Kind(tree.node(index).kind) == kind else { throw .stale }
    return tree
  }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
    if index == ArchiveTree.root { return archive.file.attributes.view(inode: inode, kind: .folder, size: 0) }
    return ArchiveItem.attributes(archive, try tree(blocking), index)
  }

  private static func attributes(_ archive: Archive, _ tree: ArchiveTree, _ index: UInt32) -> Attributes {
    let node = tree.node(index)
    let found = tree.archive.size(of: index)
    let size = found?.size ?? node.size
    var attributes = Attributes(
      inode: inode(archive, tree, index), kind: Kind(node.kind),
      permissions: node.kind == .link ? 0o777 : node.permissions, links: tree.entries.linkCount(of: index),
      owner: archive.file.attributes.owner, group: archive.file.attributes.group, size: size,
      allocated: size / 512 + (size % 512 == 0 ? 0 : 1), accessed: node.modified, modified: node.modified,
      changed: node.modified)
    attributes.isPreliminary = !(found?.isExact ?? true)
    return attributes
  }

  func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    let tree = try tree(blocking)
    guard let child = tree.entries.child(of: tree.folder(shownAs: index), named: name.bytes) else { return nil }
    return LookupResult(ArchiveItem(archive, tree, child), ArchiveItem.attributes(archive, tree, child))
  }

  func attributes(of name: ListedName, _ blocking: BlockingMode) throws(Fault) -> Attributes? {
    let tree = try tree(blocking)
    return tree.entries.child(of: tree.folder(shownAs: index), named: name.bytes).map {
      ArchiveItem.attributes(archive, tree, $0)
    }
  }

  func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor {
    guard kind == .folder else { throw .notFolder }
    _ = try tree(blocking)
    return ArchiveListing(self)
  }

  func open(pinned: Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource { try open(early: false, blocking) }

  func openEarly(_ isPatient: @Sendable () -> Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    try open(early: true, blocking)
  }

  private func open(early: Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    guard kind == .file else { throw kind == .folder ? .isFolder : .notLink }
    do throws(Fault) {
      let tree = try tree(blocking)
      let (bytes, isSequence) = try archive.open(index, of: tree, early: early, blocking)
      return EntrySource(
        bytes, archive, index, isSequence: isSequence, hasChecksum: tree.archive.assurance(of: index) == nil)
    } catch {
      archive.note(error, at: index)
      throw error
    }
  }

  func findSize(atAnyCost: Bool, _ blocking: BlockingMode) throws(Fault) {
    try tree(blocking).archive.findSize(of: index, blocking)
  }

  /// The attribute of the view itself that has the paths of the first encrypted files, each followed by a NUL. `ffmount`
  /// asks for it to find out whether a password is needed without opening all files. It is not listed.
  private static let encrypted: FileName = "user.ffmount.encrypted"
  /// The maximum number of these paths.
  private static let mostEncrypted = 4

  func extendedAttribute(_ name: FileName, _ blocking: BlockingMode) throws(Fault) -> [UInt8] {
    if index == ArchiveTree.root, name == Self.encrypted {
      return try tree(blocking).encryptedPaths(atMost: Self.mostEncrypted).flatMap { $0 + [0] }
    }
    guard let found = try recordedAttributes(blocking).first(where: { $0.name == name }) else { throw .noAttribute }
    return found.value
  }

  func extendedAttributeNames(_ blocking: BlockingMode) throws(Fault) -> [UInt8] {
    isUnopened ? [] : try recordedAttributes(blocking).flatMap { Array($0.name.bytes) + [0] }
  }

  /// Returns the recorded attributes. Returns none if the archive is unreadable, because attributes also report its
  /// fault.
  private func recordedAttributes(_ blocking: BlockingMode) throws(Fault) -> [(name: FileName, value: [UInt8])] {
    do throws(Fault) { return try tree(blocking).archive.extendedAttributes(index, blocking) } catch {
      guard error.concernsContent else { throw error }
      return []
    }
  }

  func checkCurrent(isDoubted: Bool, _ blocking: BlockingMode) throws(Fault) {
    try file.checkCurrent(isDoubted: isDoubted, blocking)
    if try archive.hasPartsByNow(blocking) { throw .stale }
  }

  var claimsItsContent: Bool { true }

  func openAgain(_ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    let bytes = try open(pinned: false, blocking)
    // Decoding verifies the checksum. Stored bytes have to be read completely for that.
    if try !tree(blocking).archive.isDecoded(index) { try bytes.readThrough(blocking) }
    return bytes
  }

  func linkTarget(_ blocking: BlockingMode) throws(Fault) -> [UInt8] {
    guard kind == .link else { throw .notLink }
    let bytes = try tree(blocking).archive.open(index, blocking)
    return try bytes.bytes(at: 0, count: Int(bytes.size), blocking)
  }

  /// Returns the archive's access list for the view itself. An entry only has the recorded mode.
  func accessList() throws(Fault) -> AccessList? {
    index == ArchiveTree.root ? try archive.file.accessList(.folder) : nil
  }

  func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    var fault: Fault?
    var isOpen = false
    do throws(Fault) {
      let tree = try tree(blocking)
      fault = index == ArchiveTree.root ? tree.archive.fault ?? archive.missingPart : archive.fault(at: index)
      if fault == nil, index != ArchiveTree.root { fault = try tree.archive.fault(of: index, blocking) }
      if fault == nil, kind == .file, tree.archive.requiresReading(index) {
        if blocking == .immediate { throw Fault.later }
        if archive.lacksPasswords {
          fault = Fault(.locked, "requires a password, and none is known (-o password_file=FILE)")
        }
      }
      if fault == nil, kind == .file {
        switch tree.archive.assurance(of: index) {
        case .damaged(let damage): fault = damage
        case .open: isOpen = true
        case nil: isOpen = archive.isUnverified(index, of: tree)
        case .some(.none), .checked: break
        }
      }
    } catch {
      guard error.concernsContent else { throw error }
      fault = error
    }
    var provenance = archive.file.provenance(view: archive.view, fault)
    if fault == nil, isOpen { provenance.state = .unverified }
    if archive.isOfDeleted { provenance.remark = "deleted: other files may have used its bytes since" }
    return provenance
  }

  func knownProvenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? {
    isUnopened ? archive.file.provenance(view: archive.view, archive.lastFault) : try provenance(blocking)
  }

  /// Whether this is the view itself, and the archive is not open.
  private var isUnopened: Bool { index == ArchiveTree.root && archive.tree == nil }

  fileprivate final class ArchiveListing: DirectoryCursor {
    private let folder: ArchiveItem

    init(_ folder: ArchiveItem) { self.folder = folder }

    func entries(after place: Int64, _ blocking: BlockingMode) throws(Fault) -> [ListedEntry] {
      let tree = try folder.tree(blocking)
      let children = tree.entries.children(of: tree.folder(shownAs: folder.index))
      guard place >= 0, place < children.count else { return [] }
      let start = children.startIndex + Int(place)
      let part = children[start...].prefix(256)
      var block: [UInt8] = []
      var ranges: [Range<Int>] = []
      for child in part {
        let name = tree.entries.name(of: child)
        ranges.append(block.count..<block.count + name.count)
        block += name
        block.append(0)
      }
      return part.enumerated().map { position, child in
        ListedEntry(
          name: ListedName(in: block, ranges[position]), inode: ArchiveItem.inode(folder.archive, tree, child),
          kind: Kind(tree.node(child).kind), next: place + Int64(position) + 1)
      }
    }
  }
}

extension Kind {
  fileprivate init(_ kind: EntryNode.Kind) {
    switch kind {
    case .file: self = .file
    case .folder: self = .folder
    case .link: self = .link
    }
  }
}

extension Archive {
  fileprivate var view: String { isOfDeleted ? "deleted" : "contents" }
  /// The number of the view among those of the file.
  fileprivate var number: UInt64 { isOfDeleted ? 1 : 0 }
}
