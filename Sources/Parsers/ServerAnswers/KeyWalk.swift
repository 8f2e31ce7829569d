package import Bytes

/// The folders of a bucket of S3, of its keys in their order: once a key is past a folder, all of its entries are known.
///
/// A walk may begin at any folder. Those that contain this one are not completed, since their first entries are missing.
package struct KeyWalk {
  /// The entries of a folder. The path of the walk's root is `/`.
  package struct Folder {
    package let path: [UInt8]
    package fileprivate(set) var items: [ServerItem] = []
    /// Whether the walk begins before the first key of the folder.
    fileprivate let isWhole: Bool

    fileprivate init(path: [UInt8], isWhole: Bool) { (self.path, self.isWhole) = (path, isWhole) }

    fileprivate func path(of name: some Collection<UInt8>) -> [UInt8] {
      (path.count == 1 ? [] : path) + [KeyWalk.slash] + name
    }
  }

  /// The folders from the root to that of the last key.
  private var open: [Folder]
  /// The last key, without the prefix of the root. The next one is greater.
  package private(set) var last: [UInt8]

  private static let slash = UInt8(ascii: "/")

  /// - Parameter path: that of the folder where the walk begins. `/` is the root.
  package init(at path: [UInt8]) {
    let names = path.split(separator: Self.slash)
    open = [Folder(path: [Self.slash], isWhole: names.isEmpty)]
    for (number, name) in names.enumerated() {
      open.append(Folder(path: open[number].path(of: name), isWhole: number == names.count - 1))
    }
    last = names.isEmpty ? [] : path.dropFirst() + [Self.slash]
  }

  /// Returns the number of entries so far of a folder that the next keys will complete. Returns `nil` for others.
  package func count(of path: [UInt8]) -> Int? {
    open.first { $0.path == path && $0.isWhole }?.items.count
  }

  /// Adds a page of objects by their keys, without the prefix of the root. Returns the folders that are complete now.
  /// O(n).
  ///
  /// Keys whose parts are not valid names are left out, as in a listing of their folder.
  ///
  /// - Throws: `damaged` unless the keys are in their order, and `limit` for too many entries in a folder.
  package mutating func add(
    _ objects: [(key: [UInt8], item: ServerItem)], isLastPage: Bool
  ) throws(Fault) -> [Folder] {
    var complete: [Folder] = []
    for (key, item) in objects {
      guard last.lexicographicallyPrecedes(key) else {
        throw Fault(.damaged, "the server's keys are not in their order")
      }
      last = key
      let parts = key.split(separator: Self.slash, omittingEmptySubsequences: false)
      let folders = parts.dropLast().prefix { ServerItem.isName($0) }
      var depth = 0
      while depth < folders.count, depth + 1 < open.count,
        open[depth + 1].path == open[depth].path(of: folders[depth])
      {
        depth += 1
      }
      close(downTo: depth + 1, &complete)
      for name in folders[depth...] {
        var folder = ServerItem()
        folder.kind = .folder
        folder.name = FileName(name)
        try append(folder)
        open.append(Folder(path: open[open.count - 1].path(of: name), isWhole: true))
      }
      guard folders.count == parts.count - 1, let name = parts.last, ServerItem.isName(name) else { continue }
      var file = item
      file.name = FileName(name)
      try append(file)
    }
    if isLastPage { close(downTo: 0, &complete) }
    return complete
  }

  private mutating func append(_ item: ServerItem) throws(Fault) {
    let deepest = open.count - 1
    guard open[deepest].isWhole else { return }
    guard open[deepest].items.count < ServerItem.mostInFolder else { throw ServerItem.tooMany }
    open[deepest].items.append(item)
  }

  private mutating func close(downTo count: Int, _ complete: inout [Folder]) {
    while open.count > count, let folder = open.popLast() { if folder.isWhole { complete.append(folder) } }
  }
}
