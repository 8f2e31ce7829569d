import CPosix
import FileTrees
import SystemPackage

/// `libraryleaks FOLDER ROUNDS [keep]`, for `scripts/check sanitize leaks`: in each round opens the folder as a tree, uses what a
/// tree can do, and gives it up; prints the bytes that are allocated in the end. With `keep` the trees are not given up.
@main
struct LibraryLeaks {
  static func main() async throws {
    let words = CommandLine.arguments
    var kept: [FileTree] = []
    for number in 0..<(Int(words[2]) ?? 1) {
      // To be given up is as good as to be closed.
      let tree = try await used(FilePath(words[1]))
      if words.count > 3 { kept.append(tree) } else if number.isMultiple(of: 2) { await tree.close() }
    }
    // Trees end on a thread of their own.
    try await Task.sleep(for: .seconds(3))
    print(ffmount_heap())
    withExtendedLifetime(kept) {}
  }

  static func used(_ folder: FilePath) async throws -> FileTree {
    var options = FileTree.Options()
    options.cache = .none
    let tree = try FileTree(at: folder, options: options)
    var folders: [FilePath] = [""]
    var size: Int64 = 0
    while let path = folders.popLast() {
      for try await entry in tree.entries(of: path) {
        if entry.kind == .directory, path.components.count < 6 { folders.append(entry.path) }
        guard entry.kind == .file else { continue }
        size += Int64(try await tree.read(entry.path).count)
        for try await chunk in tree.chunks(of: entry.path, size: 4096) { size += Int64(chunk.count) }
      }
    }
    size += Int64(try await tree.views(of: "letters.zip").count)
    for try await entry in tree.search("pictures") { size += entry.size }
    for try await message in tree.messages(matching: "from:anna", in: "club.mbox") { size += message.size }
    precondition(size > 0)
    return tree
  }
}
