internal import Bytes
internal import Glibc
internal import Index
internal import RenditionViews
internal import Synchronization
public import SystemPackage
internal import Threads
package import Tree

/// A directory, or a file such as an archive, including the contents of its files.
///
/// A tree provides the files of an `ffmount` mount without mounting anything. Beside `a.zip` there is a directory
/// `a.zip.contents`, and beside `photo.heic` a file `photo.heic.as-jpeg`. Such a file or directory is a view. It is
/// made when it is read.
///
/// Paths are relative to the root, with or without a leading slash. Symbolic links are followed as in a separate file
/// system: neither links nor `..` lead out of the tree.
///
/// Blocking work runs on the tree's own threads. A cancelled task continues at once, with a `FileTreeError` whose code
/// is `cancelled`.
public final class FileTree: Sendable {
  let tree: Tree
  let source: TreeSource
  private let index: Index?
  let bench: ThreadPool
  let watches = WatchList()
  private let isClosed = Atomic<Bool>(false)

  /// The maximum number of concurrent jobs: usually, and while some are blocked by the disk or other jobs.
  private static let jobs = (usual: max(4, 2 * sysconf(Int32(_SC_NPROCESSORS_ONLN))), most: 64)
  /// The threads that stop the work of trees after their last use.
  private static let ending = ThreadPool(atMost: 1, evenHeldUp: 16)
  /// The maximum time to wait until results are stored in the index.
  private static let blocking = Duration.seconds(2)

  /// Opens a tree.
  ///
  /// Blocks for a few system calls and, for a file, until its format is known. All other work is done on demand.
  ///
  /// - Parameters:
  ///   - path: A directory, or a file whose contents are the root. Relative to the working directory, or absolute.
  ///   - options: The options of the tree.
  /// - Throws: `notFound` and `permissionDenied`; `unsupported` if the path is neither a directory nor a file with
  ///   contents.
  public init(at path: FilePath, options: Options = Options()) throws(FileTreeError) {
    do throws(Fault) {
      let source = try TreeSource(path.string)
      let folder = try options.usableCacheFolder()
      let index = options.keepsIndex ? Index(folder: folder) : nil
      let settings = options.settings
      let conversions =
        options.converts
        ? Converter.conversions(
          settings, index: index, cacheFolder: folder, spools: TreeSource.spoolFolder, log: options.log) : nil
      tree = try source.tree(
        settings, index, conversions, reserve: TreeSource.reserve(settings, conversions) + Self.jobs.most
      ).0
      self.source = source
      self.index = index
    } catch { throw FileTreeError(error, path) }
    bench = ThreadPool(atMost: Self.jobs.usual, evenHeldUp: Self.jobs.most)
  }

  /// Creates a tree from an open one, which stops together with this tree.
  package init(_ tree: Tree, of source: TreeSource) {
    self.tree = tree
    self.source = source
    index = nil
    bench = ThreadPool(atMost: Self.jobs.usual, evenHeldUp: Self.jobs.most)
  }

  deinit { end() }

  /// The root's absolute path, with symbolic links resolved.
  public var root: FilePath { FilePath(source.path) }

  /// Cancels conversions and searches in progress, and waits until results are stored for later trees.
  ///
  /// Required only by programs that exit immediately afterwards. Calls in progress and later calls may fail with the
  /// code `cancelled`.
  public func close() async {
    guard let ending = end() else { return }
    _ = try? await ending.value()
  }

  @discardableResult private func end() -> QueuedCall<Void>? {
    guard !isClosed.exchange(true, ordering: .relaxed) else { return nil }
    watches.end()
    return QueuedCall(on: Self.ending) { [tree, index] () throws(Fault) in
      tree.stop()
      index?.finish(within: Self.blocking)
    }
  }

  // MARK: For all that is asked of it

  /// Runs blocking work on a thread of the tree.
  func run<Value: Sendable>(
    _ path: FilePath, isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @Sendable () throws(Fault) -> Value
  ) async throws(FileTreeError) -> Value {
    let turn = QueuedCall(on: bench) { () throws(Fault) in try waiting(body) }
    do throws(Fault) { return try await turn.value() } catch { throw FileTreeError(error, path) }
  }

  /// Returns the item at a path. Blocks.
  ///
  /// - Parameter followsLast: Whether a symbolic link in the last component is followed.
  func place(_ path: FilePath, followsLast: Bool = true) throws(Fault) -> ResolvedPath {
    try place(path.names, followsLast: followsLast)
  }

  func place(_ names: [FileName], followsLast: Bool = true) throws(Fault) -> ResolvedPath {
    try waiting { () throws(Fault) in
      try ResolvedPath.find(names, in: tree, source: source.path, followsLast: followsLast, .blocking)
    }
  }
}

extension FilePath {
  /// The components, including `.` and `..`, which the tree interprets.
  var names: [FileName] {
    unsafe withPlatformString { bytes in
      unsafe FileName(bytes).bytes.split(separator: UInt8(ascii: "/")).map { FileName($0) }
    }
  }

  init(_ names: [FileName]) {
    let bytes = names.map(\.bytes).joined(separator: [UInt8(ascii: "/")])
    unsafe self.init(platformString: bytes.map { CChar(bitPattern: $0) } + [0])
  }
}
