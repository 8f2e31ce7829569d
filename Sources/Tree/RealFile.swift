internal import Bytes
internal import Files

/// An item of the source other than a folder.
final class RealFile: Item {
  private let folder: RealFolder
  private let name: FileName
  let inode: UInt64
  let kind: Kind
  var isImmutable: Bool { false }

  init(_ folder: RealFolder, _ name: FileName, inode: UInt64, kind: Kind) {
    self.folder = folder
    self.name = name
    self.inode = inode
    self.kind = kind
  }

  private func status() throws(Fault) -> FileStatus {
    let status = try folder.status(of: name)
    guard folder.path.root.inode(status) == inode else { throw .stale }
    return status
  }

  func attributes(_ patience: Patience) throws(Fault) -> Attributes { Attributes(try status(), inode: inode) }

  func open(pinned: Bool, _ patience: Patience) throws(Fault) -> any ByteSource {
    guard kind == .file else { throw .notOpened }
    let (folder, name) = (folder, name)
    let opened = try folder.open(name, for: .reading)
    let status = try opened.status()
    guard folder.path.root.inode(status) == inode, Kind(status.type) == .file else { throw .stale }
    let descriptor = PooledDescriptor(folder.path.root.pool, opened: opened) { () throws(Fault) in
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
    let name = name
    return try folder.place.withDescriptor { (place) throws(Fault) in try Files.linkTarget(of: name, in: place) }
  }

  func extendedAttribute(_ attribute: FileName, _ patience: Patience) throws(Fault) -> [UInt8] {
    try folder.extendedAttribute(attribute, of: name)
  }

  func extendedAttributeNames(_ patience: Patience) throws(Fault) -> [UInt8] {
    try folder.extendedAttributeNames(of: name)
  }

  func accessList() throws(Fault) -> AccessList? { kind == .link ? nil : try folder.accessList(of: name) }

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
