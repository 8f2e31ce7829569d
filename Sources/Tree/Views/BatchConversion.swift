public import Bytes
internal import Threads

/// A batch conversion of all files that a tree lists with an estimated size. Afterwards, all sizes are known and all
/// results exist.
public final class BatchConversion: Sendable {
  private let tree: Tree

  /// A listed file with an estimated size.
  public struct File: Sendable {
    /// The path relative to the tree's root.
    public let path: String
    fileprivate let node: UInt64
  }

  public init(_ tree: Tree) { self.tree = tree }

  /// Returns the number of files to convert. Blocks. O(n) in the number of listed items. Throws if the count is
  /// cancelled.
  public func count() throws(Fault) -> Int {
    var count = 0
    try walk(Tree.root) { (_, node) throws(Fault) in
      count += 1
      tree.forget(node, 1)
    }
    return count
  }

  /// Converts every file, `width` at a time. Calls `made`, on several threads, with each file and the fault if it
  /// failed. Blocks until all are done.
  public func forEach(atATime width: Int, _ made: @escaping @Sendable (File, Fault?) -> Void) throws(Fault) {
    let workers = ThreadPool(atMost: width)
    // Back-pressure: no more jobs are queued than running, since a tree may list millions of files.
    let running = Monitor(0)
    defer { workers.stop() }
    try walk(Tree.root) { (path, node) throws(Fault) in
      running.update { $0 += 1 }
      workers.submit { [self] in
        let file = File(path: path, node: node)
        made(file, fault(of: file))
        tree.forget(node, 1)
        running.update { $0 -= 1 }
      }
      try running.wait { $0 < 2 * width ? () : nil }
    }
    try running.wait { $0 == 0 ? () : nil }
  }

  private func fault(of file: File) -> Fault? {
    do throws(Fault) {
      _ = try waiting { () throws(Fault) in try tree.open(file.node, .blocking) }
      return nil
    } catch { return error }
  }

  /// Calls `body` with the path and node of each preliminary file, with one lookup added. Skips directories that cannot
  /// be listed.
  private func walk(_ folder: UInt64, _ body: (String, UInt64) throws(Fault) -> Void) throws(Fault) {
    let opened = try? waiting { () throws(Fault) in try tree.openFolder(folder, .blocking) }
    guard let reader = opened else { return }
    var cookie: UInt64 = 0
    while true {
      var folders: [UInt64] = []
      var files: [UInt64] = []
      let before = cookie
      do throws(Fault) {
        try waiting { () throws(Fault) in
          try reader.read(after: cookie, .blocking) { (row, entry) throws(Fault) in
            // The views of a mailbox repeat its messages.
            let isWanted = row.kind == .file || row.kind == .folder && row.viewName != "views"
            // `.` and `..` come first.
            if row.cookie > 2, isWanted, let entry = try unlessDelayed(entry) ?? nil {
              if entry.attributes.kind == .folder {
                folders.append(entry.node)
              } else if entry.attributes.isPreliminary {
                files.append(entry.node)
              } else {
                tree.forget(entry.node, 1)
              }
            }
            cookie = row.cookie
            return folders.count + files.count < 256
          }
        }
      } catch { return }
      for file in files { try body(tree.path(file), file) }
      for folder in folders {
        try walk(folder, body)
        tree.forget(folder, 1)
      }
      if cookie == before { return }
    }
  }
}
