import Assembly
import FileTrees
import Glibc
import Locks
import SystemPackage

/// The file or directory that a command works on, in the tree that a program sees through the library.
struct CommandTree {
  let tree: FileTree
  /// The tree's root directory.
  let root: FilePath
  /// The path from the tree's root, which is the parent directory. Empty for a directory whose parent this user cannot
  /// list.
  let path: FilePath
  let isFolder: Bool

  /// - Parameters:
  ///   - depth: the maximum number of nested archives whose views are listed. Nil for the default.
  ///   - keepsResults: whether the user's cache is used.
  ///   - more: the values of the command's `-o`.
  init(_ given: String, depth: Int? = nil, keepsResults: Bool = true, _ more: TreeOptions = TreeOptions()) throws {
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
    options.sharedCache = more.sharedCache.map { FilePath($0) }
    let address = MountTable().address(of: full.string)
    options.sourceID = more.sourceID ?? address
    options.passwords = more.passwords
    if !keepsResults {
      options.cache = .none
      options.keepsIndex = false
    }
    let folder = full.removingLastComponent()
    // The parent directory of a folder on another machine is not a part of that, and the one of a view has its source.
    let isTop =
      address != nil && MountTable().address(of: folder.string) == nil || OwnAttributes(of: full.string).view != nil
    let isAlone = unsafe isFolder && (isTop || access(folder.string, R_OK | X_OK) != 0)
    root = isAlone ? full : folder
    do throws(FileTreeError) { tree = try FileTree(at: root, options: options) } catch {
      throw Refusal(.sourceMissing, "cannot read \(given): \(error.sentence)\(error.readAdvice)")
    }
    path = isAlone ? "" : FilePath(root: nil, full.components.suffix(1))
  }

  /// Returns whether searches of a path are of mail alone: of a mailbox, or of a Maildir.
  static func isOfMail(_ path: String) -> Bool {
    func isFolder(_ path: String) -> Bool {
      var status = stat()
      return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
    return !isFolder(path) || ["cur", "new", "tmp"].allSatisfy { isFolder("\(path)/\($0)") }
  }

  /// Throws a refusal if this user cannot read the file, or list the directory.
  func expectReadable(_ given: String) throws {
    guard unsafe access(given, isFolder ? R_OK | X_OK : R_OK) != 0 else { return }
    let code = errno
    throw Refusal(.sourceMissing, "cannot read \(given): \(describe(code))\(Refusal.readAdvice(code))")
  }

  /// Runs asynchronous work to its end and closes the tree. Blocks.
  ///
  /// - Parameter watch: called several times a second until the work ends.
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
    // A short command must not take longer than its work.
    var waited: UInt32 = 0
    while true {
      if let result = held.outcome.withLock({ $0 }) { return try result.get() }
      watch()
      let pause = min(max(500, waited / 16), 50_000)
      _ = usleep(pause)
      waited = min(waited + pause, 10_000_000)
    }
  }

  private final class Held<Value: Sendable>: Sendable {
    let outcome = UnfairLock<Result<Value, FileTreeError>?>(nil)
  }
}

/// The values of `-o` of a command that reads a tree, besides those of servers.
struct TreeOptions {
  /// The cache that several machines use, and the name of the source there.
  private(set) var sharedCache: String?
  private(set) var sourceID: String?
  private(set) var passwords: [String] = []

  var isShared: Bool { sharedCache != nil || sourceID != nil }

  init() {}

  /// - Parameter accepted: the options, each with its value as in `password_file=FILE`. All others are refused.
  init(_ options: [String], accepting accepted: [String]) throws {
    let known = try MountOptions(options)
    let names = accepted.map { String($0.prefix { $0 != "=" }) }
    if let other = known.given.subtracting(ServerAccess.ofSources).subtracting(names).min() {
      throw Refusal(.usage, "-o \(other): expected \(accepted.joined(separator: ", ")), or an option of a server")
    }
    (sharedCache, sourceID) = (known.tree.sharedCache, known.tree.sourceID)
    passwords = known.passwords
  }

  static let ofPasswords = ["password_file=FILE"]
  static let ofSharedCaches = ["shared_cache=FOLDER", "source_id=NAME"]
}

extension FileTreeError {
  /// The advice on permissions, in parentheses after a space. Empty for other errors.
  var readAdvice: String { code == .permissionDenied ? Refusal.readAdvice(EACCES) : "" }

  /// The reason of the error, without the path.
  var sentence: String { underlying.map { describe($0.rawValue) } ?? reason }
}
