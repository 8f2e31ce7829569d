internal import Glibc

/// ffmount in the foreground as a child process, with its mount.
public struct MountProcess: Sendable {
  public let mountpoint: String
  /// The daemon, or the program that started a supervised mount and has ended.
  public let daemon: MountChild
  private let wasMounted: Bool
  private let isSupervised: Bool

  /// The program under test: FFMOUNT_BINARY, or the debug build's.
  public static let binary =
    unsafe getenv("FFMOUNT_BINARY").map { unsafe String(cString: $0) }
    ?? MountScratch.package + "/.build/debug/ffmount"

  /// Another program of the same build.
  public static func program(_ name: String) -> String {
    String(binary.prefix(upTo: binary.lastIndex(of: "/") ?? binary.startIndex)) + "/" + name
  }

  /// Starts ffmount with the command `prefix` before it, without waiting.
  private init(
    starting source: String, at mountpoint: String, options: [String], prefix: [String],
    environment: [String: String], isSupervised: Bool = false
  ) throws {
    self.mountpoint = mountpoint
    self.isSupervised = isSupervised
    // There may be a dead mount: then only a reply shows that the new one is there.
    wasMounted = MountProcess.isMounted(mountpoint)
    // Keeps the user's own cache free of test data.
    let cache = ["XDG_CACHE_HOME": MountScratch.temporary + "/cache"]
    daemon = try MountChild(
      MountProcess.limit + prefix + [MountProcess.binary] + (isSupervised ? [] : ["-f"]) + options
        + MountProcess.writing(options, source) + [source, mountpoint],
      environment: cache.merging(environment) { _, given in given })
  }

  /// Whether the whole suite mounts with `-o rw`: FFMOUNT_TEST_WRITABLE is set.
  public static let isWritable = unsafe getenv("FFMOUNT_TEST_WRITABLE") != nil

  /// The command that limits the descriptors of a daemon and its workers, for the whole suite: FFMOUNT_TEST_DESCRIPTORS is
  /// set to their number.
  private static let limit: [String] = {
    guard let count = unsafe getenv("FFMOUNT_TEST_DESCRIPTORS") else { return [] }
    return ["/bin/bash", "-c", "ulimit -n \(unsafe String(cString: count)); exec \"$@\"", "bash"]
  }()

  /// `-o rw` for the whole suite, if it is wanted and nothing forbids it: what is read must be the same.
  private static func writing(_ options: [String], _ source: String) -> [String] {
    let refuses = ["uid=", "gid=", "umask=", "ro", "rw"]
    let words = options.flatMap { $0.split(separator: ",") }
    guard isWritable, isFolder(source),
      !words.contains(where: { word in refuses.contains { word.hasPrefix($0) } })
    else { return [] }
    return ["-o", "rw"]
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return unsafe stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// Starts ffmount with the command `prefix` before it and waits for the mount; throws with its output if it exits
  /// instead.
  ///
  /// The caller must call `stop`, as `withMount` does. A supervised mount is served by a process in the background.
  public init(
    _ source: String, at mountpoint: String, options: [String] = [], prefix: [String] = [],
    environment: [String: String] = [:], isSupervised: Bool = false
  ) async throws {
    try self.init(
      starting: source, at: mountpoint, options: options, prefix: prefix, environment: environment,
      isSupervised: isSupervised)
    let start = ContinuousClock.now
    while try !isReady(since: start) { try? await Task.sleep(for: .milliseconds(2)) }
  }

  /// The same, blocking.
  public init(blockingOn source: String, at mountpoint: String, options: [String] = []) throws {
    try self.init(starting: source, at: mountpoint, options: options, prefix: [], environment: [:])
    let start = ContinuousClock.now
    while try !isReady(since: start) { _ = usleep(2000) }
  }

  private func isReady(since start: ContinuousClock.Instant) throws -> Bool {
    if let status = daemon.status, !isSupervised || status != 0 {
      throw MountChild.Failure("ffmount ended with status \(status) before it mounted: \(daemon.saidSoFar)")
    }
    if Task.isCancelled || ContinuousClock.now - start > .seconds(20 * Sanitizer.slowness) {
      stop()
      throw MountChild.Failure("ffmount did not mount in time: \(daemon.saidSoFar)")
    }
    guard isMounted else { return false }
    guard wasMounted else { return true }
    // FUSE_SUPER_MAGIC: between the dead mount and the new one, the bare folder replies, too.
    let test = "[ \"$(stat -f -c %t -- \"$1\")\" = 65735546 ]"
    guard let child = try? MountChild(["/bin/bash", "-c", test, "bash", mountpoint]) else { return false }
    for _ in 0..<400 where child.isRunning { _ = usleep(5000) }
    return child.status == 0
  }

  /// The number of mounts on a folder. Does not access a mount.
  private static func count(_ mountpoint: String) -> Int {
    // Escaped as in proc(5).
    let mountpoint = mountpoint.map { ["\\": "\\134", " ": "\\040", "\t": "\\011", "\n": "\\012"][$0] ?? String($0) }
      .joined()
    guard let file = unsafe fopen("/proc/self/mountinfo", "re") else { return 0 }
    defer { _ = unsafe fclose(file) }
    var line = [CChar](repeating: 0, count: 16384)
    var count = 0
    while unsafe fgets(&line, Int32(line.count), file) != nil {
      let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if text.split(separator: " ").dropFirst(4).first.map({ $0 == mountpoint }) ?? false { count += 1 }
    }
    return count
  }

  public static func isMounted(_ mountpoint: String) -> Bool { count(mountpoint) > 0 }

  public var isMounted: Bool { MountProcess.isMounted(mountpoint) }

  /// Unmounts, by force if necessary, and reaps the daemon; returns its exit status, or nil if it had to be killed.
  @discardableResult
  public func stop() -> Int32? {
    MountProcess.unmount(mountpoint)
    if isSupervised { waitForSupervisor() }
    for attempt in 0..<12 where daemon.isRunning {
      // If the root's mounts are private, as in containers, a process with its own mount namespace has a copy of the
      // mount.
      if attempt > 0, !MountProcess.isHeldElsewhere(mountpoint) { break }
      for _ in 0..<1000 where daemon.isRunning { _ = usleep(5_000) }
    }
    if let status = daemon.status { return status }
    daemon.killNow()
    MountProcess.unmount(mountpoint)
    return nil
  }

  /// Waits until the processes of an unmounted supervised mount have ended.
  private func waitForSupervisor() {
    let lines = """
      supervisors() { grep -lsx ffkeep /proc/[0-9]*/comm | sed 's/comm$/cmdline/'; }
      while grep -qsxzF -e "$1" $(supervisors) /dev/null; do sleep .02; done
      """
    guard let child = try? MountChild(["/bin/bash", "-c", lines, "bash", mountpoint]) else { return }
    for _ in 0..<2000 where child.isRunning { _ = usleep(5_000) }
  }

  private static func isHeldElsewhere(_ mountpoint: String) -> Bool {
    let lines = "grep -qsF -- \" $1 \" /proc/[0-9]*/mountinfo"
    guard let child = try? MountChild(["/bin/bash", "-c", lines, "bash", mountpoint]) else { return false }
    for _ in 0..<1000 where child.isRunning { _ = usleep(5_000) }
    return child.status == 0
  }

  /// Removes every mount on a folder. Blocks for a few seconds at most.
  public static func unmount(_ mountpoint: String) {
    for attempt in 0..<4 where isMounted(mountpoint) {
      let words = ["fusermount3", "-u"] + (attempt == 0 ? [] : ["-z"]) + ["--", mountpoint]
      guard let child = try? MountChild(words) else { continue }
      for _ in 0..<1000 where child.isRunning { _ = usleep(5_000) }
      if child.isRunning { child.killNow() }
    }
  }
}

/// Mounts SOURCE for `body`; always unmounts and reaps. Throws if the daemon did not exit successfully by itself.
@discardableResult
public func withMount<Value>(
  _ source: String, at mountpoint: String, options: [String] = [], prefix: [String] = [],
  environment: [String: String] = [:], endsWith expected: Int32? = 0, isSupervised: Bool = false,
  _ body: (MountProcess) async throws -> Value
) async throws -> Value {
  let mount = try await MountProcess(
    source, at: mountpoint, options: options, prefix: prefix, environment: environment, isSupervised: isSupervised)
  let value: Value
  do { value = try await body(mount) } catch {
    await offThread { _ = mount.stop() }
    throw error
  }
  let status = await offThread { mount.stop() }
  guard expected == nil || status == expected else {
    throw MountChild.Failure(
      "ffmount ended with \(status.map { "status \($0)" } ?? "SIGKILL, it hung"): \(mount.daemon.saidSoFar.suffix(2000))"
    )
  }
  return value
}

/// Mounts a scratch folder's `source` on its `mnt`.
@discardableResult
public func withMount<Value>(
  _ scratch: MountScratch, options: [String] = [], prefix: [String] = [], environment: [String: String] = [:],
  endsWith expected: Int32? = 0, isSupervised: Bool = false, _ body: (MountProcess) async throws -> Value
) async throws -> Value {
  try await withMount(
    scratch.source, at: scratch.mountpoint, options: options, prefix: prefix, environment: environment,
    endsWith: expected, isSupervised: isSupervised, body)
}

/// The resources of a daemon according to the kernel.
public struct MountFootprint: Sendable, CustomStringConvertible {
  public let descriptors: Int
  public let threads: Int
  /// Resident, in KiB.
  public let memory: Int

  public init(of pid: Int32) async throws {
    let result = try await shell(
      "ls /proc/$1/fd | wc -l; sed -n 's/^Threads:[^0-9]*//p; s/^VmRSS:[^0-9]*\\([0-9]*\\).*/\\1/p' /proc/$1/status",
      "\(pid)")
    let numbers = result.lines.compactMap { line in Int(line.filter { !$0.isWhitespace }) }
    guard numbers.count == 3 else { throw MountChild.Failure("no footprint of \(pid): \(result.text)") }
    descriptors = numbers[0]
    memory = numbers[1]
    threads = numbers[2]
  }

  public var description: String { "\(descriptors) descriptors, \(threads) threads, \(memory) KiB" }
}
