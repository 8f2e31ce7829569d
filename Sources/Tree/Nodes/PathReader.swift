public import Bytes

/// A reader of files by their paths in a tree, without a mount. Blocks.
public struct PathReader: Sendable {
  private let tree: Tree

  public init(_ tree: Tree) { self.tree = tree }

  /// Returns the names of the real files in a directory, in its order. Omits their views.
  ///
  /// - Parameter folder: the directory's path from the root.
  public func files(in folder: [FileName]) throws(Fault) -> [FileName] {
    try at(folder) { (node) throws(Fault) in
      let reader = try waiting { () throws(Fault) in try tree.openFolder(node, .blocking) }
      var names: [FileName] = []
      var cookie: UInt64 = 0
      while true {
        let before = cookie
        try waiting { () throws(Fault) in
          try reader.read(after: cookie, .blocking) { row, _ in
            if row.kind == .file, row.viewName == nil { names.append(row.name.fileName) }
            cookie = row.cookie
            return true
          }
        }
        if cookie == before { return names }
      }
    }
  }

  /// Returns a file's first bytes, up to `limit`.
  public func bytes(of path: [FileName], upTo limit: Int) throws(Fault) -> [UInt8] {
    try at(path) { (node) throws(Fault) in
      let file = try waiting { () throws(Fault) in try tree.open(node, .blocking) }
      return try waiting { () throws(Fault) in
        try file.reading(.blocking) { (source) throws(Fault) in
          try source.bytes(at: 0, count: Int(min(source.size, Int64(limit))))
        }
      }
    }
  }

  /// Calls `body` with the node at a path.
  private func at<Result>(_ path: [FileName], _ body: (UInt64) throws(Fault) -> Result) throws(Fault) -> Result {
    var passed: [UInt64] = []
    defer { for node in passed { tree.forget(node, 1) } }
    for name in path {
      let parent = passed.last ?? Tree.root
      passed.append(try waiting { () throws(Fault) in try tree.lookUp(name, in: parent, .blocking).node })
    }
    return try body(passed.last ?? Tree.root)
  }
}
