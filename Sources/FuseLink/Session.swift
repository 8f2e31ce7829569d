internal import CFuse3
internal import CPosix
internal import Glibc
internal import Synchronization

/// A mounted file system, from mount to unmount.
@safe public final class Session: @unchecked Sendable {
  // Sendable: libfuse's session may be told to end and sent notifications from any thread.

  /// Keeps the file system alive while C code holds a pointer.
  final class Anchor: Sendable {
    let fileSystem: any FileSystem
    init(_ fileSystem: any FileSystem) { self.fileSystem = fileSystem }
  }

  private let raw: OpaquePointer
  private let anchor: Anchor
  /// Whether the helper that mounts stays until the mount is gone.
  private let hasLastingHelper: Bool
  private let isMounted = Mutex(false)

  public struct Failure: Error, Sendable {
    /// What libfuse said, one line.
    public let reason: String
  }

  /// Prepares a session; `options` are those of libfuse and the kernel, as for `-o`.
  public init(_ fileSystem: any FileSystem, options: [String], isDebugging: Bool) throws(Failure) {
    LibfuseLog.install()
    var words = ["ffmount"]
    if isDebugging { words.append("-d") }
    if !options.isEmpty { words += ["-o", options.joined(separator: ",")] }
    let anchor = Anchor(fileSystem)
    let user = unsafe Unmanaged.passUnretained(anchor).toOpaque()
    var pointers = unsafe words.map { unsafe strdup($0) }
    defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
    let session = unsafe pointers.withUnsafeMutableBufferPointer { pointers -> OpaquePointer? in
      var arguments = unsafe fuse_args(argc: Int32(pointers.count), argv: pointers.baseAddress, allocated: 0)
      defer { unsafe fuse_opt_free_args(&arguments) }
      var table = Operations.table()
      return unsafe fuse_session_new(&arguments, &table, MemoryLayout<fuse_lowlevel_ops>.size, user)
    }
    guard let session = unsafe session else { throw Failure(reason: LibfuseLog.last ?? "libfuse refused the options") }
    unsafe raw = session
    self.anchor = anchor
    hasLastingHelper = options.contains("auto_unmount")
  }

  /// Mounts; the kernel's questions wait until `run`.
  public func mount(at path: String) throws(Failure) {
    let streams = hasLastingHelper ? BorrowedStreams() : nil
    let status = unsafe fuse_session_mount(raw, path)
    let said = streams?.giveBack()
    guard status == 0 else { throw Failure(reason: said ?? LibfuseLog.last ?? "mount failed") }
    isMounted.withLock { $0 = true }
  }

  /// Blocks the signals that end a mount in the calling thread and those it starts: to be called before any is.
  public static func blockSignals() { Readers.blockSignals() }

  /// Answers the kernel until the mount is gone or a SIGINT, SIGTERM or SIGHUP comes, then takes the mount away; gives 0, or
  /// the errno, negative, that the connection broke with. Blocks. `threads` is at most how many answer at a time.
  public func run(threads: Int) -> Int32 {
    let readers = unsafe Readers(raw, limit: threads)
    readers.start()
    _ = readers.waitForEnd()
    unsafe fuse_session_exit(raw)
    let result = readers.stop()
    unmount()
    return result
  }

  /// Takes the mount away; nothing happens when it is gone already.
  public func unmount() {
    let was = isMounted.withLock { mounted in
      defer { mounted = false }
      return mounted
    }
    if was { unsafe fuse_session_unmount(raw) }
  }

  deinit {
    unmount()
    unsafe fuse_session_destroy(raw)
  }

  // MARK: Notifications

  /// Makes the kernel forget a name. Blocks while that folder is being looked into: not to be called from within an answer,
  /// which may be what ends that.
  public func invalidate(_ name: UnsafePointer<CChar>, in folder: UInt64) {
    _ = unsafe fuse_lowlevel_notify_inval_entry(raw, folder, name, strlen(name))
  }

  /// Makes the kernel ask for a node's attributes before it says them again. Does not block: the kernel takes no lock for it
  /// that an answer could hold.
  public func invalidateAttributes(of node: UInt64) {
    // A negative offset leaves the cached pages alone.
    _ = unsafe fuse_lowlevel_notify_inval_inode(raw, node, -1, 0)
  }
}
