import FileTrees
import SystemPackage

/// `librarybench chunks|bytes|list PATH ROUNDS`, for `scripts/bench library`: the nanoseconds of each round, and what was
/// counted in it.
@main
struct LibraryBench {
  static func main() async throws {
    let words = CommandLine.arguments
    let path = FilePath(words[2])
    guard let name = path.lastComponent else { return }
    var options = FileTree.Options()
    options.cache = .none
    let tree = try FileTree(at: path.removingLastComponent(), options: options)
    for _ in 0..<(Int(words[3]) ?? 1) {
      let start = ContinuousClock.now
      let count = try await count(words[1], FilePath(root: nil, [name]), in: tree)
      let (seconds, attoseconds) = (ContinuousClock.now - start).components
      print(seconds * 1_000_000_000 + attoseconds / 1_000_000_000, count)
    }
  }

  static func count(_ work: String, _ path: FilePath, in tree: FileTree) async throws -> Int64 {
    switch work {
    case "chunks": try await chunks(of: path, in: tree)
    case "bytes": try await bytes(of: path, in: tree)
    default: try await entries(of: path, in: tree)
    }
  }

  static func chunks(of path: FilePath, in tree: FileTree) async throws -> Int64 {
    var count: Int64 = 0
    for try await chunk in tree.chunks(of: path) { count += Int64(chunk.count) }
    return count
  }

  static func bytes(of path: FilePath, in tree: FileTree) async throws -> Int64 {
    var sum: Int64 = 0
    for try await byte in tree.bytes(of: path) { sum &+= Int64(byte) }
    return sum
  }

  static func entries(of path: FilePath, in tree: FileTree) async throws -> Int64 {
    var size: Int64 = 0
    for try await entry in tree.entries(of: path) { size += entry.size }
    return size
  }
}
