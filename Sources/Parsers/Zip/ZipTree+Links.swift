internal import Bytes
internal import Entries

extension ZipTree {
  /// Gives each PKWARE hard link the data of its file, if that file exists.
  mutating func resolveHardLinks() {
    for (link, path) in targets.sorted(by: { $0.key < $1.key }) where nodes[Int(link)].kind == .file {
      let file = file(at: path, from: ZipTree.root) ?? file(at: path, from: nodes[Int(link)].parent)
      dropTarget(of: link)
      // A link to a later link may be circular, and is not resolved.
      guard let file, file != link, targets[file] == nil else {
        // Unresolved: reading it fails.
        updateDetail(of: link) { $0.localHeaderOffset = -1 }
        continue
      }
      let (size, detail) = (nodes[Int(file)].size, detail(file))
      update(link) { $0.size = size }
      updateDetail(of: link) { $0 = detail ?? ZipDetail() }
    }
  }

  private func file(at path: [UInt8], from folder: UInt32) -> UInt32? {
    let components = EntryName.components(of: path[...]).components
    let found = components.reduce(folder as UInt32?) { place, name in
      place.flatMap { entries.child(of: $0, named: name) }
    }
    return found.flatMap { nodes[Int($0)].kind == .file ? $0 : nil }
  }
}
