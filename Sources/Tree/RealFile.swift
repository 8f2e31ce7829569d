internal import Bytes
internal import Files
internal import Synchronization

/// An item of the source other than a folder.
final class RealFile: Item {
  private let position: Position<RealFolder>
  private let isGone = Atomic<Bool>(false)
  /// The folder and the name in it, both of one moment. Throws ESTALE if it has lost its name: a new file under that may
  /// have got its inode number, too.
  var place: (folder: RealFolder, name: FileName) {
    get throws(Fault) {
      if isGone.load(ordering: .relaxed) { throw .stale }
      let value = position.value
      // Never nil: neither `init` nor `move` gives that.
      return (value.folder!, value.name)
    }
  }
  let inode: UInt64
  let kind: Kind
  var isImmutable: Bool { false }

  init(_ folder: RealFolder, _ name: FileName, inode: UInt64, kind: Kind) {
    position = Position(folder, name)
    self.inode = inode
    self.kind = kind
  }

  /// Takes over a rename.
  func move(to folder: RealFolder, _ name: FileName) { position.move(to: folder, name) }

  /// Takes over that its name was removed, or is another file's.
  func loseName() { isGone.store(true, ordering: .relaxed) }

  private func status() throws(Fault) -> FileStatus {
    let (folder, name) = try place
    let status = try folder.status(of: name)
    guard folder.path.root.inode(status) == inode else { throw .stale }
    return status
  }

  func attributes(_ patience: Patience) throws(Fault) -> Attributes { Attributes(try status(), inode: inode) }

  func open(pinned: Bool, _ patience: Patience) throws(Fault) -> any ByteSource {
    guard kind == .file else { throw .notOpened }
    let (folder, name) = try place
    let opened = try folder.open(name, for: .reading)
    let status = try opened.status()
    guard folder.path.root.inode(status) == inode, Kind(status.type) == .file else { throw .stale }
    let descriptor = PooledDescriptor(folder.path.root.pool, opened: opened) { [self] () throws(Fault) in
      let (folder, name) = try place
      let again = try folder.open(name, for: .reading)
      let now = try again.status()
      guard now.inode == status.inode, now.device == status.device else { throw .stale }
      return again
    }
    let device = folder.path.root.identified(status.device)
    return FileSource(descriptor, opened: status, device: device, isPinned: pinned)
  }

  func linkTarget(_ patience: Patience) throws(Fault) -> [UInt8] {
    guard kind == .link else { throw .notLink }
    let (folder, name) = try place
    return try folder.place.withDescriptor { (place) throws(Fault) in try Files.linkTarget(of: name, in: place) }
  }

  func extendedAttribute(_ attribute: FileName, _ patience: Patience) throws(Fault) -> [UInt8] {
    let (folder, name) = try place
    return try folder.extendedAttribute(attribute, of: name)
  }

  func extendedAttributeNames(_ patience: Patience) throws(Fault) -> [UInt8] {
    let (folder, name) = try place
    return try folder.extendedAttributeNames(of: name)
  }

  func accessList() throws(Fault) -> AccessList? {
    let (folder, name) = try place
    return kind == .link ? nil : try folder.accessList(of: name)
  }

  func revision(_ attributes: Attributes) -> UInt64 {
    var hash = StableHash()
    hash.combine(attributes.inode)
    hash.combine(UInt64(bitPattern: attributes.size))
    for time in [attributes.modified, attributes.changed] {
      hash.combine(UInt64(bitPattern: time.seconds))
      hash.combine(UInt64(UInt32(bitPattern: time.nanoseconds)))
    }
    return hash.value
  }
}
