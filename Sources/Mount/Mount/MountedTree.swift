public import Bytes
public import FuseLink
internal import Glibc
public import Logging
internal import Synchronization
internal import Threads
public import Tree

/// The file system of a tree: the thin layer between FuseLink and Tree.
///
/// A request is first tried on libfuse's thread. If it would block, it is parked and answered by a worker thread.
public final class MountedTree: FileSystem {
  let tree: Tree
  let options: Options
  let failures: FailureLog
  let workers: ThreadPool
  /// The thread for notifications. There is only one, because each notification may block in the kernel.
  private let notifier = ThreadPool(atMost: 1)
  let lockQueue: LockQueue
  private let sourceFollower: SourceFollower
  let session = Mutex<Session?>(nil)
  let ending: Ending
  private let isTrimming = Atomic<Bool>(false)
  let habits = ReaddirPlusPolicy()
  let sizeHabits = ExactSizePolicy()
  let witness: SizeRefresher?

  public struct Options: Sendable {
    /// The maximum number of changeable nodes that the kernel may know before it is asked to forget some.
    public var nodeLimit = 20_480
    /// The maximum number of long-running requests processed concurrently. Requests blocked, for example, by an
    /// unresponsive disk do not count.
    public var workers = 32
    /// The maximum number of threads when some are blocked by an unresponsive disk.
    public var workersEvenHeldUp = 224
    /// Called when the mount answers requests.
    public var started: @Sendable () -> Void = {}
    /// The absolute path of the mountpoint. `nil` if this process cannot access it.
    public var mountpoint: String?
    /// The programs that can read a film while it is being generated.
    public var players = Players()
    /// Whether every stat returns the exact size, even if content has to be generated for it.
    public var sizesAreExact = false
    /// The root of the source, whose file system statfs(2) describes.
    public var root: RealRoot?
    /// Attributes of the mount itself, by name. Only its user and root can read them, and listings of names omit them.
    /// Must not block.
    public var ownAttribute: @Sendable (FileName) -> [UInt8]? = { _ in nil }
    /// The reason why requests about a node are refused. `nil` if they are not. Must not block.
    public var refusal: @Sendable (UInt64) -> String? = { _ in nil }

    public init() {}
  }

  public init(_ tree: Tree, _ options: Options, logger: Logger) {
    self.tree = tree
    self.options = options
    let ending = Ending()
    self.ending = ending
    lockQueue = LockQueue(ending)
    failures = FailureLog(logger)
    let witness = options.mountpoint.map { SizeRefresher(mountpoint: $0) }
    self.witness = witness
    sourceFollower = SourceFollower { witness?.look(at: $0.pathBytes) {} }
    workers = ThreadPool(atMost: options.workers, evenHeldUp: max(options.workers, options.workersEvenHeldUp))
  }

  /// Sets the session through which notifications are sent.
  public func attach(_ session: Session) {
    self.session.withLock { $0 = session }
    tree.whenOutdated { nodes in for node in nodes { session.invalidateAttributes(of: node) } }
  }

  /// Cancels all work in progress, since its results will not be read.
  public func end() { ending.come() }

  /// Stops the threads and waits for them. Must be called before the session is released.
  public func stop() {
    end()
    sourceFollower.stop()
    tree.stop()
    witness?.stop()
    workers.stop()
    notifier.stop()
    lockQueue.stop()
    tree.whenOutdated(nil)
    session.withLock { $0 = nil }
  }

  public func started() { options.started() }

  /// Runs the mount helper and does not return, if this process was started as one. Otherwise, does nothing.
  public static func serveAsHelper(_ arguments: [String]) {
    if arguments == [SizeRefresher.program] { SizeRefresher.serve() }
    KernelNotifier.serveAsHelper(arguments)
  }

  public var hasAccessLists: Bool { tree.isShared }
  public var keepsHandles: Bool { tree.keepsHandles }

  /// Returns the backing file of an open file, if any. Starts following the file's changes.
  func lend(_ file: Tree.OpenFile) -> BackingFile? {
    if file.isReal { sourceFollower.add(file) }
    guard let session = session.withLock({ $0 }), session.canLend else { return nil }
    return file.lent { session.lend($0) }
  }

  public func inherit(_ body: (UInt64, AnyObject) -> Void) {
    let session = session.withLock { $0 }
    let lent: (Int32) -> BackingFile? = { session?.lentBefore($0) }
    tree.openInherited(lent: lent) { number, file in
      sourceFollower.add(file)
      body(number, file)
    }
  }

  /// Asks the kernel to forget the least recently used nodes if it knows too many.
  func trim() {
    guard tree.hasSurplus(over: options.nodeLimit), !isTrimming.exchange(true, ordering: .relaxed) else { return }
    notifier.submit { [self] in
      defer { isTrimming.store(false, ordering: .relaxed) }
      guard let session = session.withLock({ $0 }) else { return }
      for (folder, name) in tree.surplus(over: options.nodeLimit) {
        unsafe name.withCString { unsafe session.invalidate($0, in: folder) }
      }
    }
  }
}
