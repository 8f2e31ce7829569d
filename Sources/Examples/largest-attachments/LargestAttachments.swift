import FileTrees
import SystemPackage

/// `largest-attachments ARCHIVE [COUNT]`: lists the largest attachments in a mailbox, largest first, each with its size
/// in bytes and its message. The archive may be a mailbox, or a ZIP or folder that contains mailboxes.
@main
struct LargestAttachments {
  static func main() async {
    let words = CommandLine.arguments
    guard words.count == 2 || words.count == 3, let count = words.count == 3 ? Int(words[2]) : 10, count > 0 else {
      return print("usage: largest-attachments ARCHIVE [COUNT]")
    }
    do throws(FileTreeError) {
      let tree = try FileTree(at: FilePath(words[1]))
      let files = try await attachments(in: "", of: tree, isAttached: false)
      for file in files.sorted(by: { $0.size > $1.size }).prefix(count) { print("\(file.size)\t\(file.path.string)") }
      await tree.close()
    } catch {
      print("largest-attachments: \(error)")
    }
  }

  /// Returns the attachments below a directory, and below the views of its files.
  static func attachments(
    in folder: FilePath, of tree: FileTree, isAttached: Bool
  ) async throws(FileTreeError) -> [FileTree.Entry] {
    var found: [FileTree.Entry] = []
    for try await entry in tree.entries(of: folder) {
      if entry.kind == .file, isAttached, !entry.isView { found.append(entry) }
      // Attachments are listed themselves, not their contents.
      guard entry.kind == .directory, !(isAttached && entry.isView), !entry.name.hasSuffix(".views") else { continue }
      found += try await attachments(in: entry.path, of: tree, isAttached: isAttached || entry.name == "attachments")
    }
    return found
  }
}
