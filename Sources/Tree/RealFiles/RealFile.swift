internal import Bytes
internal import Files

/// An item of the source other than a directory, identified by one of its names.
final class RealFile: Item {
  private let parent: RealFolder
  let name: FileName
  /// Whether the name was removed through the mount. A new file of that name may even have the same inode number.
  private let isGone: Bool
  /// The directory of the name. Throws ESTALE if the name was removed.
  private var folder: RealFolder {
    get throws(Fault) {
      if isGone { throw .stale }
      return parent
    }
  }
  let inode: UInt64
  /// The creation time, which distinguishes the file from an earlier one with the same inode number. 0 if unknown.
  let created: UInt64
  let kind: Kind
  var isImmutable: Bool { false }

  convenience init(_ folder: RealFolder, _ name: FileName, _ status: FileStatus) {
    let root = folder.path.root
    self.init(
      folder, name, inode: root.inode(status), created: root.creation(status), kind: Kind(status.type), isGone: false)
  }

  private init(
    _ folder: RealFolder, _ name: FileName, inode: UInt64, created: UInt64, kind: Kind, isGone: Bool
  ) {
    parent = folder
    self.name = name
    self.isGone = isGone
    self.inode = inode
    self.created = created
    self.kind = kind
  }

  /// Returns the same file under another name.
  func named(_ name: FileName, in folder: RealFolder) -> RealFile {
    RealFile(folder, name, inode: inode, created: created, kind: kind, isGone: false)
  }

  /// This file after its last name was removed.
  var nameless: RealFile { RealFile(parent, name, inode: inode, created: created, kind: kind, isGone: true) }

  /// Throws ESTALE if `status` belongs to another file that has taken the name.
  private func check(_ status: FileStatus) throws(Fault) {
    let root = parent.path.root
    guard root.inode(status) == inode, ItemIdentity.mayEqual(root.creation(status), created) else { throw .stale }
  }

  func status() throws(Fault) -> FileStatus {
    let status = try folder.status(of: name)
    try check(status)
    return status
  }

  /// The directory. Throws ESTALE if the name now belongs to another file.
  private var present: RealFolder {
    get throws(Fault) {
      _ = try status()
      return parent
    }
  }

  /// Calls `open` with a descriptor of the directory. Throws ESTALE if it opened another file. Closes idle descriptors
  /// if too many are open.
  func opened(_ open: (Int32) throws(Fault) -> Descriptor) throws(Fault) -> Descriptor {
    let opened = try folder.opened(open)
    try check(try opened.status())
    return opened
  }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes { Attributes(try status(), inode: inode) }

  func open(pinned: Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource {
    guard kind == .file else { throw .notOpened }
    let opened = try folder.open(name, for: .reading)
    let status = try opened.status()
    try check(status)
    guard Kind(status.type) == .file else { throw .stale }
    let descriptor = PooledDescriptor(parent.path.root.pool, opened: opened) { [self] () throws(Fault) in
      let again = try folder.open(name, for: .reading)
      let now = try again.status()
      guard now.inode == status.inode, now.device == status.device else { throw .stale }
      return again
    }
    let device = parent.path.root.identified(status.device)
    // A view in another mount of ffmount may show what a password opened there.
    let isView = pinned ? try parent.isView(name, status.inode) : false
    return FileSource(descriptor, opened: status, device: device, isPinned: pinned, isLasting: !isView)
  }

  func linkTarget(_ blocking: BlockingMode) throws(Fault) -> [UInt8] {
    guard kind == .link else { throw .notLink }
    return try present.place.withDescriptor { (place) throws(Fault) in try Files.linkTarget(of: name, in: place) }
  }

  func extendedAttribute(_ attribute: FileName, _ blocking: BlockingMode) throws(Fault) -> [UInt8] {
    try present.extendedAttribute(attribute, of: name)
  }

  func extendedAttributeNames(_ blocking: BlockingMode) throws(Fault) -> [UInt8] {
    try present.extendedAttributeNames(of: name)
  }

  func accessList() throws(Fault) -> AccessList? { kind == .link ? nil : try present.accessList(of: name) }

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
