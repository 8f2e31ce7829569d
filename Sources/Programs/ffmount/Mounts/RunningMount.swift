import Assembly
import Bytes
import CPosix
import Glibc

/// A mount and, if it is one of ffmount, its report.
struct RunningMount {
  enum State {
    case running(MountReport)
    /// The daemon has exited, but the mount still exists.
    case dead
    /// The daemon does not answer.
    case silent
    /// The mount answers without a report: ffmount reports only to the mount's user and root.
    case closed
  }

  let entry: MountTable.Entry
  let state: State

  var report: MountReport? { if case .running(let report) = state { report } else { nil } }

  /// The source of the mount.
  var source: String { report?.source ?? entry.source }

  /// Returns all mounts on this machine. Blocks for two seconds at most.
  ///
  /// Must be called before the process has a second thread. A mount that does not respond blocks only a child process.
  static func all() -> [RunningMount] { ask(MountTable().ours) }

  /// Returns all mounts on this machine, each with the work of the program that reads its source on another machine; and
  /// this user's sources on other machines that cannot be used. Blocks for two seconds at most.
  ///
  /// Must be called before the process has a second thread.
  static func withReaders() -> (mounts: [RunningMount], hindered: [RunningMount]) {
    let table = MountTable()
    let ours = table.ours
    let asked = ask(ours + table.readers)
    let readers = asked[ours.count...]
    let mounts = asked[..<ours.count].map { mount in
      guard case .running(var report) = mount.state else { return mount }
      for reader in readers.compactMap(\.report) where reader.source == report.source { report.add(reader.work) }
      return RunningMount(entry: mount.entry, state: .running(report))
    }
    return (mounts, readers.filter { $0.hindrance != nil })
  }

  /// Returns this user's sources on other machines that cannot be used: their program has ended without unmounting them,
  /// or does not answer. Blocks for two seconds at most.
  ///
  /// Must be called before the process has a second thread.
  static func hinderedReaders() -> [RunningMount] { ask(MountTable().readers).filter { $0.hindrance != nil } }

  /// Returns the state of some mounts. Blocks for two seconds at most.
  static func ask(_ entries: [MountTable.Entry]) -> [RunningMount] {
    let end = ContinuousClock.now + .seconds(2)
    let asked = entries.map { (entry: $0, answer: ask($0)) }
    return asked.map { entry, answer in RunningMount(entry: entry, state: state(answer, until: end)) }
  }

  /// Queries a mount in a child process. Returns a pipe with that process's ID, an errno (0 if there is none), and the
  /// mount's report. The numbers have four bytes each.
  private static func ask(_ entry: MountTable.Entry) -> Int32? {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { return nil }
    let child = ffmount_fork()
    if child == 0 {
      // A grandchild does not have to be waited for, however long it blocks.
      if ffmount_fork() != 0 { _exit(0) }
      // Readers of this command's output must not wait for it either.
      for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] { close(stream) }
      try? Output.write([UInt8](bigEndian: getpid()), to: ends[1])
      var answer: [UInt8]
      do throws(SystemError) {
        answer = [UInt8](repeating: 0, count: 4)
        answer += try report(of: entry)
      } catch { answer = [UInt8](bigEndian: error.code) }
      try? Output.write(answer, to: ends[1])
      _exit(0)
    }
    close(ends[1])
    if child > 0 { _ = waitpid(child, nil, 0) }
    return ends[0]
  }

  /// Returns the report of a mount of ffmount. Returns nothing for other mounts that answer.
  private static func report(of entry: MountTable.Entry) throws(SystemError) -> [UInt8] {
    if entry.isOurs || entry.isElsewhere { return try MountReport.pages(of: entry.mountpoint) }
    // Unlike attributes, the kernel does not cache this.
    var status = statvfs()
    guard unsafe statvfs(entry.mountpoint, &status) == 0 else { throw SystemError(code: errno) }
    return []
  }

  private static func state(_ answer: Int32?, until end: ContinuousClock.Instant) -> State {
    guard let answer else { return .silent }
    defer { close(answer) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let left = max(.zero, end - .now)
      var wait = pollfd(fd: answer, events: Int16(POLLIN), revents: 0)
      let ready = unsafe poll(&wait, 1, Int32(left / .milliseconds(1)))
      if ready < 0, errno == EINTR { continue }
      guard ready > 0 else {
        release(bytes, answer)
        return .silent
      }
      let count = unsafe read(answer, &buffer, buffer.count)
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    guard bytes.count >= 8 else { return .silent }
    switch Int32(bigEndianBytes: bytes[4...]) {
    case 0: return MountReport(Array(bytes[8...])).map { .running($0) } ?? .closed
    case ENOTCONN, ECONNABORTED: return .dead
    default: return .closed
    }
  }

  /// Kills the child process that is still waiting and would keep the mount in use.
  private static func release(_ said: [UInt8], _ answer: Int32) {
    guard said.count >= 4 else { return }
    // The process keeps its end of the pipe open, so that its ID has not been reused.
    _ = kill(Int32(bigEndianBytes: said), SIGKILL)
    var wait = pollfd(fd: answer, events: 0, revents: 0)
    _ = unsafe poll(&wait, 1, endingPatience)
  }

  /// The maximum time to wait for the process to exit, in milliseconds.
  private static let endingPatience: Int32 = 200
}

extension RunningMount {
  /// The reason why the mount cannot be accessed, with advice, as the end of a sentence. Nil if it answers.
  var hindrance: String? {
    let path = entry.mountpoint
    switch state {
    case .silent:
      return "the mount on \(path) does not answer; its source may hang (to unmount it, type: "
        + "\(entry.lazyUnmountCommand))"
    case .dead: return "the daemon of the mount on \(path) has ended (type: \(entry.unmountCommand))"
    case .running, .closed: return nil
    }
  }

  /// Returns the reason why this user cannot do something to the mount, with advice, as the end of a sentence. Returns
  /// `nil` if the mount gives its report.
  ///
  /// - Parameter command: the command for that, without `ffmount`.
  func objection(toDo what: String, by command: String) -> String? {
    if let objection = entry.objection(toDo: what) ?? hindrance { return objection }
    if report != nil { return nil }
    let owner = entry.owner ?? 0
    if owner == geteuid() { return "the mount gives no report" }
    // Without -o allow_other, not even root has access.
    return "only user \(owner) can see it (type: sudo -u '#\(owner)' ffmount \(command))"
  }

  /// Returns the mount that would block or fail an access to a path, because its daemon does not answer. Returns `nil`
  /// if there is none. Blocks for two seconds at most.
  ///
  /// Must be called before the process has a second thread.
  static func hindering(onTheWayTo path: String) -> RunningMount? {
    var last: RunningMount?
    let mount = MountTable().mount(onTheWayTo: path) { entry, _ in
      last = ask([entry]).first
      return last?.hindrance != nil
    }
    return mount == nil ? nil : last
  }

  /// Returns the reason why a path cannot be accessed, with advice, if it is in a mount that only another user can see.
  /// Returns `nil` for other paths.
  static func secrecy(onTheWayTo path: String) -> String? {
    let mount = MountTable().mount(onTheWayTo: path) { entry, _ in
      unsafe entry.owner != geteuid() && access(entry.mountpoint, F_OK) != 0 && errno == EACCES
    }
    guard let owner = mount?.owner else { return nil }
    return "in a mount that only user \(owner) can see (mount it with -o allow_other to give others access)"
  }

  /// Returns the file or directory of the source that a path in a mount is, or is a view of. Returns `nil` for other paths.
  static func original(of path: String, _ mounts: MountTable = MountTable()) -> String? {
    guard let full = MountTable.resolved(path), let mount = mounts.mount(of: full), mount.isOurs else { return nil }
    let source = ask([mount])[0].source
    var original = source + full.dropFirst(mount.mountpoint.utf8.count)
    while original.utf8.count > source.utf8.count, unsafe access(original, F_OK) != 0 {
      guard let view = original.lastIndex(of: ".") else { break }
      original = String(original[..<view])
    }
    return original
  }

  /// Throws a refusal, `cannot DO PATH: …`, if one of these paths is in a mount that does not answer.
  ///
  /// Must be called before the process has a second thread.
  static func expectAnswers(onTheWayTo paths: [String], toDo what: String) throws {
    for path in paths {
      if let objection = objection(toPassing: path) {
        throw Refusal(.sourceMissing, "cannot \(what) \(path): \(objection)")
      }
    }
  }

  /// Returns the reason why a path cannot be accessed, with advice: it is in a mount that does not answer, or that only
  /// another user can see. Returns `nil` for other paths.
  ///
  /// Must be called before the process has a second thread.
  static func objection(toPassing path: String) -> String? {
    hindering(onTheWayTo: path)?.hindrance ?? secrecy(onTheWayTo: path)
  }

  /// Returns the ffmount mount that contains a path, and the absolute path without links. Throws a refusal,
  /// `cannot DO PATH: …`, if there is none or it does not answer.
  ///
  /// Must be called before the process has a second thread.
  static func containing(_ path: String, toDo what: String) throws -> (mount: RunningMount, path: String) {
    func refusal(_ reason: String) -> Refusal {
      Refusal(.sourceMissing, "cannot \(what) \(path.isEmpty ? "''" : path): \(reason)")
    }
    let table = MountTable()
    var passed: RunningMount?
    _ = table.mount(onTheWayTo: path) { entry, _ in
      passed = ask([entry]).first
      return passed?.hindrance != nil
    }
    if let hindrance = passed?.hindrance { throw refusal(hindrance) }
    guard let full = MountTable.absolute(path), let entry = table.mount(of: full) else {
      throw refusal("\(describe(ENOENT)) (check the path)")
    }
    guard entry.isOurs else {
      if unsafe access(path, F_OK) != 0, errno == ENOENT { throw refusal("\(describe(ENOENT)) (check the path)") }
      throw refusal("not in an ffmount mount (run 'ffmount list')")
    }
    // The last mount on the path contains the file, unless the path leaves that mount again.
    if let passed, passed.entry.mountpoint == entry.mountpoint { return (passed, full) }
    return (ask([entry])[0], full)
  }
}
