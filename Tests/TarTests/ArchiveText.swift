import Bytes
import Entries
import Tar
import TestSupport

extension TarArchive {
  convenience init(_ bytes: [UInt8]) throws {
    try self.init(ByteArraySource(bytes), modified: Timestamp(seconds: 1_700_000_000))
  }

  /// The tree as text, one line per node, in the archive's order: `folder/`, `file = content`, `link -> target`, `file
  /// ! kind of fault`.
  func lines() -> [String] { lines(below: EntryTree.root, path: "") }

  private func lines(below folder: UInt32, path: String) -> [String] {
    entries.children(of: folder).flatMap { child -> [String] in
      let path = path + String(decoding: entries.name(of: child), as: UTF8.self)
      if entries.nodes[Int(child)].kind == .folder { return ["\(path)/"] + lines(below: child, path: path + "/") }
      do throws(Fault) {
        let text = String(decoding: try open(child, .blocking).readThrough(), as: UTF8.self)
        return ["\(path) \(entries.nodes[Int(child)].kind == .link ? "->" : "=") \(text)"]
      } catch { return ["\(path) ! \(error.kind)"] }
    }
  }

  /// The node at a path of existing names.
  func find(_ path: String) -> UInt32 { entries.node(at: ArraySlice(path.utf8)) ?? .max }
}
