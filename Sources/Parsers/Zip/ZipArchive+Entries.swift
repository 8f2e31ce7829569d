internal import Bytes
internal import Entries

extension ZipArchive {
  /// Returns the target of a symbolic link. Returns `nil` if it is invalid.
  static func target(of link: UInt32, in tree: ZipTree, _ reader: EntryReader) throws(Fault) -> [UInt8]? {
    let node = tree.node(link)
    guard node.size > 0, node.size <= Int64(EntryName.longestPath) else { return nil }
    var target = tree.targets[link]
    if target == nil {
      target = try unlessDelayed { () throws(Fault) in
        try reader.open(node, .blocking).bytes(at: 0, count: Int(node.size))
      }
    }
    return target.flatMap { $0.contains(0) ? nil : $0 }
  }
}
