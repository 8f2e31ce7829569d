internal import Bytes

extension ZipNode {
  init(_ header: CentralHeader, prefix: Int64, isFolderName: Bool) {
    let type = header.isUnix ? header.unixMode & 0o170000 : 0
    let kind: Kind =
      if isFolderName || (type == 0o040000 && header.size == 0) {
        .folder
      } else if header.isLink {
        .link
      } else {
        .file
      }
    self.init(
      kind: kind, modified: header.modified, permissions: Self.permissions(header, kind),
      size: kind == .folder ? 0 : header.size)
    encryption = Encryption(header)
    method = header.method == 99 && encryption != .none ? header.aesMethod : header.method
    flags = header.flags
    crc = header.crc
    compressedSize = header.compressedSize
    localHeaderOffset = header.localHeaderOffset + prefix
  }

  /// As recorded on Unix; otherwise defaults plus any recorded execute permission.
  private static func permissions(_ header: CentralHeader, _ kind: Kind) -> UInt16 {
    let recorded = UInt16(header.unixMode & 0o777)
    if header.isUnix && header.unixMode != 0 { return recorded }
    return kind == .folder ? 0o755 : 0o644 | (recorded & 0o111)
  }
}

extension ZipArchive {
  /// The target of a symbolic link; nil if it is invalid.
  static func target(of link: UInt32, in tree: ZipTree, _ reader: EntryReader) throws(Fault) -> [UInt8]? {
    let node = tree.nodes[Int(link)]
    guard node.size > 0, node.size <= Int64(EntryName.longestPath) else { return nil }
    var target = tree.targets[link]
    if target == nil {
      target = try unlessDelayed { () throws(Fault) in
        try reader.open(node, .blocking).bytes(at: 0, count: Int(node.size))
      }
    }
    return target.flatMap { $0.contains(0) ? nil : $0 }
  }

  /// Whether a symbolic link's target is a relative path that never leaves the archive's root.
  ///
  /// `..` is followed only through folders of the tree: after another link it may lead anywhere.
  static func staysInside(_ target: [UInt8], from folder: UInt32, in tree: ZipTree) -> Bool {
    if target.first == 0x2f { return false }
    // nil after a link or a missing name.
    var place: UInt32? = folder
    for component in target.split(separator: 0x2f) where component != [0x2e] {
      if component == [0x2e, 0x2e] {
        guard let folder = place, folder != root else { return false }
        place = tree.nodes[Int(folder)].parent
      } else if let folder = place, let child = tree.child(of: folder, named: component),
        tree.nodes[Int(child)].kind == .folder
      {
        place = child
      } else {
        place = nil
      }
    }
    return true
  }
}
