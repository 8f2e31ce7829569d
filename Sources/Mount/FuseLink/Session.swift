internal import CFuse3
internal import CPosix
internal import Glibc
internal import Locks
internal import Synchronization

/// A mounted file system, from mount to unmount.
@safe public final class Session: @unchecked Sendable {
  // Sendable: libfuse's session may be ended and sent notifications from any thread.

  /// The object behind libfuse's user pointer. Keeps the file system alive while C code has that pointer.
  final class Anchor: Sendable {
    let fileSystem: any FileSystem
    /// The file system if it is writable. A cast per request would take longer than most of its other work.
    let writable: (any WritableFileSystem)?
    let handles: Handles
    let slots: RequestSlots?
    init(_ fileSystem: any FileSystem, _ legacy: Handover? = nil) {
      self.fileSystem = fileSystem
      writable = fileSystem.isWritable ? fileSystem as? any WritableFileSystem : nil
      handles = Handles(ordinal: legacy?.ordinal ?? 0)
      slots = legacy?.slots
    }
  }

  private let raw: OpaquePointer
  private let anchor: Anchor
  private let legacy: Handover?
  private let isMounted = UnfairLock(false)
  private let notifier = UnfairLock<KernelNotifier?>(nil)
  /// Whether the kernel accepts backing files of this process. Requires Linux 6.9 and root.
  private let borrows = Atomic<Bool>(false)

  /// A failure of libfuse or its mount helper.
  public struct Failure: Error, Sendable {
    /// The reason from libfuse, in one line.
    public let reason: String
  }

  /// Prepares a session. `options` are those of libfuse and the kernel, as for `-o`. `legacy` is `nil` if no other
  /// process serves the mount after this one.
  public init(
    _ fileSystem: any FileSystem, options: [String], isDebugging: Bool, legacy: Handover? = nil
  ) throws(Failure) {
    self.legacy = legacy
    LibfuseLog.install()
    var words = ["ffmount"]
    if isDebugging { words.append("-d") }
    if !options.isEmpty { words += ["-o", options.joined(separator: ",")] }
    let anchor = Anchor(fileSystem, legacy)
    let user = unsafe Unmanaged.passUnretained(anchor).toOpaque()
    var pointers = unsafe words.map { unsafe strdup($0) }
    defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
    let session = unsafe pointers.withUnsafeMutableBufferPointer { pointers -> OpaquePointer? in
      var arguments = unsafe fuse_args(argc: Int32(pointers.count), argv: pointers.baseAddress, allocated: 0)
      defer { unsafe fuse_opt_free_args(&arguments) }
      var table = Operations.table(isWritable: fileSystem.isWritable)
      return unsafe ffmount_session_new(&arguments, &table, MemoryLayout<fuse_lowlevel_ops>.size, user)
    }
    guard let session = unsafe session else { throw Failure(reason: LibfuseLog.last ?? "libfuse refused the options") }
    unsafe raw = session
    self.anchor = anchor
  }

  /// Mounts, or takes over a mount. The kernel's requests are queued until `run`.
  public func mount(at path: String) throws(Failure) {
    if let connection = legacy?.connection {
      // libfuse's name for an existing connection.
      guard unsafe fuse_session_mount(raw, "/dev/fd/\(connection)") == 0 else {
        throw Failure(reason: LibfuseLog.last ?? "libfuse refused the connection")
      }
      prepareNotifier(0)
      return isMounted.withLock { $0 = true }
    }
    // The mount helper writes the reason of a failure to these streams.
    let streams = RedirectedOutput()
    let status = unsafe fuse_session_mount(raw, path)
    let said = streams?.giveBack()
    guard status == 0 else { throw Failure(reason: said ?? LibfuseLog.last ?? "mount failed") }
    isMounted.withLock { $0 = true }
    legacy?.handOver(unsafe fuse_session_fd(raw))
    // The connection of a supervised mount must not end with this process.
    prepareNotifier(legacy == nil ? KernelNotifier.connection(on: path) : 0)
  }

  private func prepareNotifier(_ connection: UInt32) {
    let prepared = unsafe KernelNotifier(fuse_session_fd(raw), ending: connection)
    notifier.withLock { $0 = prepared }
  }

  /// Blocks the signals that end a mount in the calling thread and those it starts. Must be called before any thread is
  /// started.
  public static func blockSignals() { RequestLoop.blockSignals() }

  /// The result of serving a mount.
  public struct Ending: Sendable {
    /// 0, or the negative errno with which the connection failed.
    public let status: Int32
    /// Whether all reader threads have ended. A thread that is blocked by a hanging file system may still use the
    /// session later.
    public let isClean: Bool
  }

  /// The time after which an unused mount is unmounted, and the function that unmounts it.
  public struct Idleness: Sendable {
    /// The required time without requests, in whole seconds.
    let time: Duration
    /// Unmounts, unless the mount is in use. Called after this time, and again each time it has passed. Blocks until
    /// unmounted.
    let unmount: @Sendable () -> Void

    public init(time: Duration, unmount: @escaping @Sendable () -> Void) {
      self.time = time
      self.unmount = unmount
    }
  }

  /// libfuse's version.
  public static var libraryVersion: String { unsafe String(cString: fuse_pkgversion()) }

  /// Answers requests until the mount is gone or SIGINT, SIGTERM or SIGHUP arrives, then calls `ending` and unmounts.
  /// Blocks. `threads` is the maximum number of reader threads, without those that are blocked.
  public func run(
    threads: Int, evenHeldUp most: Int = 192, idleness: Idleness? = nil, _ ending: () -> Void
  ) -> Ending {
    unsafe InitExchange(raw, legacy, isWritable: anchor.fileSystem.isWritable).answer {
      borrows.store($0, ordering: .relaxed)
    }
    inherit()
    let readers = unsafe RequestLoop(
      raw, limit: threads, evenHeldUp: most, isWritable: anchor.fileSystem.isWritable, slots: legacy?.slots,
      anchor.handles.releases)
    readers.start()
    _ = readers.waitForEnd(idleness)
    ending()
    unsafe fuse_session_exit(raw)
    let (status, isDone) = readers.stop(within: Self.blocking)
    unmount()
    return Ending(status: status, isClean: isDone)
  }

  /// Executes the requests about names that an earlier process left, one at a time, since all other requests depend on
  /// them. Then reopens its files.
  private func inherit() {
    guard let legacy, legacy.connection != nil, anchor.fileSystem.isWritable else { return }
    var buffer = RequestBuffer(legacy.slots)
    while unsafe buffer.receiveInherited(raw, where: RequestHeader.isAboutNames) != nil { unsafe buffer.process(raw) }
    anchor.fileSystem.inherit { anchor.handles.adopt($0, $1) }
  }

  /// The maximum time that blocked readers delay the unmount, in seconds.
  private static let blocking = 0.5

  /// Unmounts. Does nothing if the mount is already gone.
  public func unmount() {
    notifier.withLock { $0 }?.stop()
    let was = isMounted.withLock { mounted in
      defer { mounted = false }
      return mounted
    }
    guard was else { return }
    // libfuse unmounts only its own mounts.
    if let legacy, legacy.connection != nil { legacy.unmount() } else { unsafe fuse_session_unmount(raw) }
  }

  deinit {
    unmount()
    unsafe fuse_session_destroy(raw)
  }

  /// Whether the kernel accepts backing files and accesses them directly.
  public var canLend: Bool { borrows.load(ordering: .relaxed) }

  /// Registers an open regular file as a backing file. Returns `nil` if the kernel does not accept it. The kernel keeps
  /// this process's current credentials. Does not block.
  public func lend(_ file: Int32) -> BackingFile? {
    guard canLend else { return nil }
    let id = unsafe ffmount_lend_file(fuse_session_fd(raw), file)
    if id > 0 { return BackingFile(id, self) }
    // These errors mean that the kernel accepts no backing files. All others concern this file or are temporary.
    if [EOPNOTSUPP, ENOSYS, ENOTTY, EPERM].contains(errno) { borrows.store(false, ordering: .relaxed) }
    return nil
  }

  /// Returns a backing file that an earlier process registered.
  public func lentBefore(_ id: Int32) -> BackingFile { BackingFile(id, self) }

  fileprivate func takeBack(_ id: Int32) { unsafe ffmount_take_back_file(fuse_session_fd(raw), id) }

  // MARK: Notifications

  /// Makes the kernel forget a name, by the helper process.
  public func invalidate(_ name: UnsafePointer<CChar>, in folder: UInt64) {
    guard let message = unsafe Self.invalidation(of: name, in: folder) else { return }
    let notifier = notifier.withLock { $0 }
    if notifier?.send(message) ?? false { return }
    // Without a helper, the message is sent directly.
    _ = unsafe write(fuse_session_fd(raw), message, message.count)
  }

  /// Returns the message by which the kernel forgets a name. Returns `nil` if no file can have the name.
  static func invalidation(of name: UnsafePointer<CChar>, in folder: UInt64) -> [UInt8]? {
    // Encoded here, since libfuse's function has other parameters in each version. struct fuse_out_header: u32 length,
    // s32 FUSE_NOTIFY_INVAL_ENTRY, u64 0; struct fuse_notify_inval_entry_out: u64 parent, u32 length, u32 flags; the
    // name and a NUL.
    let length = unsafe strlen(name)
    guard length <= 255 else { return nil }
    var message = [UInt8]()
    for part in [UInt32(16 + 16 + length + 1), 3] { withBytes(of: part) { message += $0 } }
    for part in [UInt64(0), folder] { withBytes(of: part) { message += $0 } }
    for part in [UInt32(length), 0] { withBytes(of: part) { message += $0 } }
    for index in 0...length { message.append(UInt8(bitPattern: unsafe name[index])) }
    return message
  }

  private static func withBytes(of number: some FixedWidthInteger, _ body: ([UInt8]) -> Void) {
    body((0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) })
  }

  /// Makes the kernel request a node's attributes before it reports them again. Does not block: the kernel takes no
  /// lock that a request could hold.
  public func invalidateAttributes(of node: UInt64) {
    // A negative offset leaves the cached pages valid.
    _ = unsafe fuse_lowlevel_notify_inval_inode(raw, node, -1, 0)
  }
}

/// A backing file, which the kernel reads and writes directly while it is open. Unregistered when this object is
/// released.
public final class BackingFile: Sendable {
  let id: Int32
  private let session: Session

  fileprivate init(_ id: Int32, _ session: Session) {
    self.id = id
    self.session = session
  }

  deinit { session.takeBack(id) }
}
