public import Bytes
internal import CPosix
internal import Files
public import FuseLink
internal import Glibc
internal import Locks
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
  private let signalled: SignalledReaders
  private let sourceFollower: SourceFollower
  let session = UnfairLock<Session?>(nil)
  let ending: Ending
  private let isTrimming = Atomic<Bool>(false)
  let habits = ReaddirPlusPolicy()
  let sizeHabits = ExactSizePolicy()
  let witness: SizeRefresher?

  public struct Options: Sendable {
    /// The maximum number of changeable nodes that the kernel may know before it is asked to forget some.
    public var nodeLimit = 65_536
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
    /// The programs for which listings of real directories contain no views.
    public var copyPrograms = CopyPrograms(and: nil)
    /// Whether every stat returns the exact size, even if content has to be generated for it.
    public var sizesAreExact = false
    /// The root of the source, whose file system statfs(2) describes.
    public var root: RealRoot?
    /// Returns the space of a source that is not on this machine. Nil if it is not known.
    public var space: @Sendable (BlockingMode) throws(Fault) -> Space? = { _ in nil }
    /// Attributes of the mount itself, by name. Only its user and root can read them, and listings of names omit them.
    /// Must not block.
    public var ownAttribute: @Sendable (FileName) -> [UInt8]? = { _ in nil }
    /// The reason why requests about a node are refused. `nil` if they are not. Must not block.
    public var refusal: @Sendable (UInt64) -> String? = { _ in nil }

    public init() {}
  }

  /// The space of a file system, in bytes.
  public struct Space: Sendable {
    let available: Int64
    let used: Int64

    public init(available: Int64, used: Int64) { (self.available, self.used) = (available, used) }
  }

  public init(_ tree: Tree, _ options: Options, logger: Logger) {
    self.tree = tree
    self.options = options
    let ending = Ending()
    self.ending = ending
    lockQueue = LockQueue(ending)
    signalled = SignalledReaders(ending)
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
    tree.whenReleased { [lockQueue] in lockQueue.retry($0) }
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
    signalled.stop()
    tree.whenOutdated(nil)
    tree.whenReleased(nil)
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

  public func note(_ handle: AnyObject, number: UInt64, lent: Int32?) {
    (handle as? Tree.OpenFile)?.note(number, lent: lent)
  }

  public func noteReleased(_ handle: AnyObject) { (handle as? Tree.OpenFile)?.noteReleased() }

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

/// Serving a mount until it ends.
extension MountedTree {
  /// The parameters for serving a mount.
  public struct Service: Sendable {
    /// The path of the mountpoint.
    public var mountpoint: String
    /// The mount options of libfuse and the kernel.
    public var options: [String]
    public var isDebugging = false
    public var threads = 10
    /// The time without use after which `unmount` is called, in seconds. `nil` for never.
    public var idleTime: Int?
    /// Unmounts, unless the mount is in use. Blocks until unmounted.
    public var unmount: @Sendable () -> Void = {}

    /// The handover from the previous process and to the next. `nil` if this process is the only one.
    public var legacy: Handover?

    public init(mountpoint: String, options: [String]) {
      self.mountpoint = mountpoint
      self.options = options
    }
  }

  /// Whether the descriptor limit permits additional threads. Each thread that has spliced keeps a pipe. Otherwise,
  /// descriptors are left to files.
  public static var hasDescriptors: Bool { DescriptorPool.processLimit >= 1024 }

  /// Mounts and answers requests until the mount is gone or a signal ends it, then calls `ending`. Blocks.
  public func serve(_ service: Service, _ ending: () -> Void) throws(Session.Failure) -> Session.Ending {
    let session = try Session(
      self, options: service.options, isDebugging: service.isDebugging,
      legacy: service.legacy)
    try session.mount(at: service.mountpoint)
    attach(session)
    let idleness = service.idleTime.map { seconds in
      Session.Idleness(time: .seconds(seconds), unmount: service.unmount)
    }
    return session.run(
      threads: service.threads, evenHeldUp: Self.hasDescriptors ? 192 : 0, idleness: idleness, ending)
  }
}

/// Answering of requests, immediately or by a worker.
extension MountedTree {
  /// Answers a request, immediately or by a worker if that would block. `mayWaitForViews` is whether it may take long
  /// even if the node is real. `undo` is called instead of `reply` if the caller no longer waits.
  func answer<Value>(
    _ request: consuming Request, _ node: UInt64, mayWaitForViews: Bool = false,
    _ work: @escaping @Sendable (BlockingMode) throws(Fault) -> Value,
    undo: @escaping @Sendable (Value) -> Void = { _ in },
    _ reply: @escaping @Sendable (consuming Request, Value) -> Void
  ) {
    let credentials = caller(request)
    do throws(Fault) {
      reply(request, try Credentials.running(as: credentials) { () throws(Fault) in try work(.immediate) })
    } catch {
      guard error.isDelay else { return fail(request, error, node) }
      let caller = park(request, isReal: !mayWaitForViews && tree.isReal(node))
      again(caller, after: error, node) { () throws(Fault) in
        let value = try Credentials.running(as: credentials) { () throws(Fault) in try work(.blocking) }
        if let request = caller.take() { reply(request, value) } else { undo(value) }
      }
    }
  }

  /// Parks a request that would block. `isReal` is whether it concerns the source itself.
  func park(_ request: consuming Request, isReal: Bool) -> WaitingReader {
    let caller = WaitingReader(request, ending, isReal: isReal)
    caller.whenSignalled { [signalled, weak caller] in if let caller { signalled.add(caller) } }
    return caller
  }

  /// Retries on a worker until the request succeeds or fails: immediately, or when the pending result is available.
  func again(
    _ caller: WaitingReader, after delay: Fault, _ node: UInt64, _ attempt: @escaping @Sendable () throws(Fault) -> Void
  ) {
    let pending = delay.pending
    let work = ffmount_present_work()
    let submit: @Sendable () -> Void = { [self] in
      workers.submit { [self] in
        // The thread that submits may belong to another request.
        ffmount_work_on(work)
        caller.interest.run {
          // No work is done for a caller that no longer waits.
          if caller.interest.isLost { return caller.giveUp() }
          do throws(Fault) { try attempt() } catch {
            if error.isDelay {
              guard caller.interest.isLost else { return again(caller, after: error, node, attempt) }
              error.pending?.cancelIfUnused()
              return caller.giveUp()
            }
            if let request = caller.take() { fail(request, error, node) }
          }
          // `pending` retains the result until here.
          withExtendedLifetime(pending) {}
        }
      }
    }
    guard let pending else { return submit() }
    let token = pending.whenDone(submit)
    caller.whenInterrupted { pending.cancel(token) }
  }

  func fail(_ request: consuming Request, _ fault: Fault, _ node: UInt64) {
    if fault.shouldLog { failures.log(fault, tree.path(node)) }
    request.reply(error: fault.errno)
  }

  /// Returns the caller's credentials. Returns `nil` if access does not depend on them.
  func caller(_ request: borrowing Request) -> Credentials? {
    tree.isShared ? Credentials(user: request.user, group: request.group, thread: request.process) : nil
  }

  func node(_ entry: Tree.Entry) -> Request.Node {
    Request.Node(
      id: entry.node, generation: entry.generation, status: stat(entry.attributes), lifetime: entry.lifetime,
      statusLifetime: entry.attributesLifetime)
  }
}
