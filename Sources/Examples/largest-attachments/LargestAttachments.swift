import FileTrees
import SystemPackage

/// `largest-attachments ARCHIVE [COUNT]`: the largest files attached to the messages of a mailbox, largest first, each with its
/// size in bytes and the message that it is in. The archive may be a mailbox, or a ZIP or folder with mailboxes in it.
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

  /// The attached files below a folder, and below the views of what is in it.
  static func attachments(
    in folder: FilePath, of tree: FileTree, isAttached: Bool
  ) async throws(FileTreeError) -> [FileTree.Entry] {
    var found: [FileTree.Entry] = []
    for try await entry in tree.entries(of: folder) {
      if entry.kind == .file, isAttached, !entry.isView { found.append(entry) }
      // What is attached is told as it is, and not what is inside it.
      guard entry.kind == .directory, !(isAttached && entry.isView), !entry.name.hasSuffix(".views") else { continue }
      found += try await attachments(in: entry.path, of: tree, isAttached: isAttached || entry.name == "attachments")
    }
    return found
  }
}
