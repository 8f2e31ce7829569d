internal import Bytes
internal import Glibc
internal import Index
internal import RenditionViews
internal import Synchronization
public import SystemPackage
internal import Threads
package import Tree

/// A folder, or a file such as an archive, with all that is inside its files.
///
/// What `ffmount` shows in a mount is read here without one: beside `a.zip` there is a folder `a.zip.contents`, beside
/// `photo.heic` a file `photo.heic.as-jpeg`. Such a file or folder is a view; it is made when it is read.
///
/// Paths are relative to the root; a leading slash stands for it. Symbolic links are followed as in a mount that is a file
/// system by itself: none leads out of the tree, and neither does `..`.
///
/// All work that may block is done by threads of the tree's own, so that no task keeps a thread from others. A task that is
/// cancelled goes on at once, with a `FileTreeError` whose code is `cancelled`.
public final class FileTree: Sendable {
  let tree: Tree
  let source: TreeSource
  private let index: Index?
  let bench: Workers
  let watches = WatchList()
  private let isClosed = Atomic<Bool>(false)

  /// Jobs that run at a time, and all of them while some are held up by the disk or another job.
  private static let jobs = (usual: max(4, 2 * sysconf(Int32(_SC_NPROCESSORS_ONLN))), most: 64)
  /// Ends what trees have running once nobody uses them.
  private static let ending = Workers(atMost: 1, evenHeldUp: 16)
  /// How long what was found is waited for to be stored.
  private static let patience = Duration.seconds(2)

  /// Opens a tree.
  ///
  /// Blocks for a few system calls, and for a file until its format is known; everything else waits until it is asked for.
  ///
  /// - Parameters:
  ///   - path: a folder, or a file whose inside is to be the root; relative to the working directory, or absolute.
  ///   - options: how it is read.
  /// - Throws: `notFound` and `permissionDenied`; `unsupported` for what is neither a folder nor a file that has an inside.
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
    bench = Workers(atMost: Self.jobs.usual, evenHeldUp: Self.jobs.most)
  }

  /// A tree that has been opened already, which is stopped with this.
  package init(_ tree: Tree, of source: TreeSource) {
    self.tree = tree
    self.source = source
    index = nil
    bench = Workers(atMost: Self.jobs.usual, evenHeldUp: Self.jobs.most)
  }

  deinit { end() }

  /// The root's absolute path, with symbolic links resolved.
  public var root: FilePath { FilePath(source.path) }

  /// Ends conversions and searches that are under way, and waits until what was found is stored for the next tree.
  ///
  /// Not needed, but by programs that end right away. Calls that are under way or come later may fail with the code
  /// `cancelled`.
  public func close() async {
    guard let ending = end() else { return }
    _ = try? await ending.value()
  }

  @discardableResult private func end() -> Turn<Void>? {
    guard !isClosed.exchange(true, ordering: .relaxed) else { return nil }
    watches.end()
    return Turn(on: Self.ending) { [tree, index] () throws(Fault) in
      tree.stop()
      index?.finish(within: Self.patience)
    }
  }

  // MARK: For all that is asked of it

  /// Does what may block on a thread of the tree's own.
  func run<Value: Sendable>(
    _ path: FilePath, isolation: isolated (any Actor)? = #isolation,
    _ body: @escaping @Sendable () throws(Fault) -> Value
  ) async throws(FileTreeError) -> Value {
    let turn = Turn(on: bench) { () throws(Fault) in try waiting(body) }
    do throws(Fault) { return try await turn.value() } catch { throw FileTreeError(error, path) }
  }

  /// The place that a path leads to. Blocks.
  ///
  /// - Parameter followsLast: whether a symbolic link in the last component is followed.
  func place(_ path: FilePath, followsLast: Bool = true) throws(Fault) -> Place {
    try place(path.names, followsLast: followsLast)
  }

  func place(_ names: [FileName], followsLast: Bool = true) throws(Fault) -> Place {
    try waiting { () throws(Fault) in
      try Place.find(names, in: tree, source: source.path, followsLast: followsLast, .blocking)
    }
  }
}

extension FilePath {
  /// The components, of which `.` and `..` are for the tree to judge.
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
