import Assembly
import FileTrees
import Glibc
import Synchronization
import SystemPackage

/// The file or folder that a command works on, in the tree that a program sees through the library.
struct CommandTree {
  let tree: FileTree
  /// From the tree's root, which is the folder that it is in; empty for a folder whose own folder this user may not list.
  let path: FilePath
  let isFolder: Bool

  /// - Parameter depth: the maximum number of archives in one another of which a listing shows the views; nil for the usual one.
  init(_ given: String, depth: Int? = nil) throws {
    guard let resolved = unsafe realpath(given, nil) else {
      throw Refusal(.sourceMissing, "cannot read \(given): \(describe(errno)) (check the path)")
    }
    defer { unsafe free(resolved) }
    let full = unsafe FilePath(platformString: resolved)
    var status = stat()
    isFolder = unsafe stat(resolved, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    var options = FileTree.Options()
    options.isWritable = false
    if let depth { options.depth = depth }
    let folder = full.removingLastComponent()
    let isAlone = unsafe isFolder && access(folder.string, R_OK | X_OK) != 0
    do throws(FileTreeError) { tree = try FileTree(at: isAlone ? full : folder, options: options) } catch {
      throw Refusal(.sourceMissing, "cannot read \(given): \(error.sentence) (check its permissions)")
    }
    path = isAlone ? "" : FilePath(root: nil, full.components.suffix(1))
  }

  /// Does asynchronous work, and waits for it; what it has running is ended before this returns.
  ///
  /// - Parameter watch: is called meanwhile, some times a second.
  func finish<Value: Sendable>(
    _ work: @escaping @Sendable (FileTree, FilePath) async throws(FileTreeError) -> Value, watch: () -> Void = {}
  ) throws(FileTreeError) -> Value {
    let held = Held<Value>()
    Task.detached { [tree, path] in
      let result: Result<Value, FileTreeError>
      do throws(FileTreeError) { result = .success(try await work(tree, path)) } catch { result = .failure(error) }
      await tree.close()
      held.outcome.withLock { $0 = result }
    }
    var pause: UInt32 = 500
    while true {
      if let result = held.outcome.withLock({ $0 }) { return try result.get() }
      watch()
      _ = usleep(pause)
      pause = min(pause * 2, 50_000)
    }
  }

  private final class Held<Value: Sendable>: Sendable {
    let outcome = Mutex<Result<Value, FileTreeError>?>(nil)
  }
}

extension FileTreeError {
  /// What went wrong, without the path.
  var sentence: String { underlying.map { describe($0.rawValue) } ?? reason }
}
