internal import AllViews
package import Bytes
internal import FindViews
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
  let index: Index?
  /// The searches of directories. `nil` if the tree has none.
  let searches: FindService?
  /// The directory of several machines that has conversions and parts of indexes.
  let sharedCache: String?
  let bench: ThreadPool
  let watches = WatchList()
  private let isClosed = Atomic<Bool>(false)

  /// The maximum number of concurrent jobs: usually, and while some are blocked by the disk or other jobs.
  private static let jobs = (usual: max(4, 2 * processors), most: 64)
  static let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
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
      searches = tree.searches
      sharedCache = settings.sharedCache
    } catch { throw FileTreeError(error, path) }
    bench = ThreadPool(atMost: Self.jobs.usual, evenHeldUp: Self.jobs.most)
  }

  /// Creates a tree from an open one, which stops together with this tree.
  package init(_ tree: Tree, of source: TreeSource) {
    self.tree = tree
    self.source = source
    index = nil
    searches = tree.searches
    sharedCache = nil
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

  // MARK: Running calls

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

  package func place(_ names: [FileName], followsLast: Bool = true) throws(Fault) -> ResolvedPath {
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

extension FileTree {
  /// Work in progress on one file.
  public struct Activity: Sendable, Hashable {
    /// A kind of work.
    public enum Work: Sendable, Hashable {
      /// The file is converted.
      case converting
      /// The messages of a mailbox are located.
      case findingMessages
      /// The words of messages or documents are indexed, for searches.
      case indexingWords
    }

    /// The kind of work.
    public let work: Work
    /// The path of the file, from the root.
    public let path: FilePath
    /// The completed fraction, from 0 to 1. `nil` if it is unknown.
    public let fraction: Double?
    /// The completed part, in bytes. `nil` for a conversion.
    public let bytes: Int64?
    /// The size of the file, in bytes. `nil` for a conversion.
    public let size: Int64?
  }

  /// The work in progress, requested or ahead of requests. Does not block.
  public var activities: [Activity] {
    tree.work.activities.compactMap { activity in
      let work: Activity.Work
      switch activity.kind {
      case .converting: work = .converting
      case .messages: work = .findingMessages
      case .words, .documents: work = .indexingWords
      case .download: return nil
      }
      let fraction = activity.progress.map { done, size in
        size > 0 ? min(1, max(0, Double(done) / Double(size))) : 0
      }
      let bytes = work == .converting ? nil : activity.progress
      return Activity(
        work: work, path: FilePath(activity.path), fraction: fraction, bytes: bytes?.done, size: bytes?.size)
    }
  }
}

extension FileTree {
  /// A view of a file or directory.
  public struct ViewName: Sendable, Hashable {
    /// The kind of view, such as `contents`.
    public let view: String
    /// The path of the view, from the root.
    public let path: FilePath
    /// The type of the item.
    public let kind: Kind
    /// Whether listings show the view.
    public let isListed: Bool

    /// The last name of the path, unchanged.
    package var fileName: FileName { path.names.last ?? "" }
  }

  /// Returns the views of a file or directory, those shown by listings first. Names with modifiers are not included.
  ///
  /// Reads the first bytes of the file, and makes nothing.
  ///
  /// - Throws: `notFound`, and the errors of reading the file.
  public func views(of path: FilePath) async throws(FileTreeError) -> [ViewName] {
    try await run(path) { [self] () throws(Fault) in try viewNames(of: place(path)) }
  }

  /// Returns the views of an item that has been found. Blocks.
  package func viewNames(of place: ResolvedPath) throws(Fault) -> [ViewName] {
    let names = Array(place.names.dropLast())
    let folder = try self.place(names)
    var found: [ViewName] = []
    for candidate in try place.viewCandidates() {
      guard let view = try unlessDelayed({ () throws(Fault) in try folder.child(candidate.name, .blocking) }),
        let provenance = try unlessDelayed({ () throws(Fault) in try view.provenance(.blocking) }) ?? nil
      else { continue }
      found.append(
        ViewName(
          view: provenance.view, path: FilePath(names + [candidate.name]), kind: Kind(view.attributes.kind),
          isListed: candidate.isListed))
    }
    return found
  }
}

extension FileTree {
  /// Creates a symbolic link.
  ///
  /// - Parameters:
  ///   - path: The path of the link.
  ///   - destination: The recorded path, relative to the link's directory or absolute. It does not have to exist. A
  ///     path outside the tree can be recorded, but is not followed.
  /// - Throws: `alreadyExists`, `missingParent`, `readOnlyView`, `permissionDenied`, `noSpace`, `nameTooLong`.
  public func createSymbolicLink(_ path: FilePath, to destination: FilePath) async throws(FileTreeError) {
    guard !destination.isEmpty else { throw .invalid(path, "a link cannot have an empty destination") }
    try await change(path) { [self] () throws(Fault) in
      let (folder, name) = try parent(of: path.names)
      let target = unsafe destination.withPlatformString { unsafe FileName($0) }
      let entry = try tree.makeLink(name, to: target, in: folder.node, by: Self.maker)
      tree.forget(entry.node, 1)
    }
  }

  /// Returns the recorded path of a symbolic link.
  ///
  /// - Throws: `notFound`; `system` with `.invalidArgument` for other items.
  public func destination(ofSymbolicLink path: FilePath) async throws(FileTreeError) -> FilePath {
    try await run(path) { [self] () throws(Fault) in
      let place = try place(path, followsLast: false)
      let target = try tree.linkTarget(place.node, .blocking)
      return unsafe FilePath(platformString: target.map { CChar(bitPattern: $0) } + [0])
    }
  }

  /// Adds a name to a real file. The file is removed with its last name.
  ///
  /// - Parameters:
  ///   - path: The new name.
  ///   - existing: The file. A symbolic link is not followed.
  /// - Throws: `notFound`, `alreadyExists`, `missingParent`, `readOnlyView`, `permissionDenied`, `isADirectory`;
  ///   `system` with `.improperLink` if the directory is on another file system.
  public func createHardLink(_ path: FilePath, to existing: FilePath) async throws(FileTreeError) {
    try await change(existing, and: path) { [self] () throws(Fault) in
      let place = try place(existing, followsLast: false)
      if place.attributes.kind == .folder { throw .isFolder }
      let (folder, name) = try parent(of: path.names)
      let entry = try tree.link(place.node, to: name, in: folder.node)
      tree.forget(entry.node, 1)
    }
  }
}
