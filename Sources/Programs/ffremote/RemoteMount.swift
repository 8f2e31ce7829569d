import Assembly
import Bytes
import CPosix
import FileTrees
import Files
import FuseLink
import Glibc
import Logging
import Mount
import ServerAnswers
import Threads
import Tree

/// A mount of a server's tree.
struct RemoteMount {
  let mountpoint: String
  let options: MountOptions
  /// A pipe whose end is the end of the mount. Nil for a mount that users make.
  var lifeline: Int32?
  /// Nil if the mount is not supervised.
  var keeping: Supervision?
  /// The identity of the folder below the mount. Nil if it can be looked at, because it is not mounted on yet.
  var folder: String?

  /// The maximum delay of the process's exit by blocked work, in microseconds.
  private static let blocking: UInt32 = 1_800_000
  /// The time for the last writes to each part of the cache.
  private static let lastWrites = Duration.milliseconds(600)

  /// Mounts and answers requests until the mount ends or a signal arrives. Blocks.
  ///
  /// - Throws: a refusal if the server does not answer, or requires another token.
  func serve(
    _ makeServer: () throws -> RemoteServer, isDebugging: Bool, logsToTerminal: Bool,
    ready: @escaping @Sendable () -> Void
  ) throws {
    var logger = Logger(label: "ffmount") { label -> any LogHandler in
      if logsToTerminal { return TerminalLogHandler() }
      return SyslogHandler(label: label)
    }
    logger.logLevel = .info
    ffmount_limit_arenas(2)
    ffmount_map_from(2 << 20)
    Session.blockSignals()
    options.server.tokenFile?.log(by: { [logger] line in logger.warning("\(line)") })
    let ledger = try keeping.map { try PersistentNodeTable($0.shared, at: RequestSlots.capacity) }
    let slots = try keeping.map { keeping in try inheritedSlots(keeping, ledger) }
    let server = try makeServer()
    let address = server.address
    let tree = Tree(
      root: try root(of: server), views: Views([], depth: 0), overrides: options.overrides,
      isShared: options.isShared, isWritable: server.changes != nil, ledger: ledger)

    let isOfUser = lifeline == nil
    // A request to the own mount would not be answered.
    let folder = folder ?? Self.identity(of: mountpoint)
    let watch = ThreadPool(atMost: 1)
    var settings = MountedTree.Options()
    settings.started = { [self] in
      ready()
      keeping?.tell(.answering)
      guard let lifeline else { return }
      watch.submit {
        var byte: UInt8 = 0
        // The other end writes nothing.
        while unsafe read(lifeline, &byte, 1) != 0 { if errno != EINTR { break } }
        // The exit does not wait for work that is blocked.
        if Fusermount.detach(mountpoint) { removeMountpoint(folder) }
      }
    }
    settings.mountpoint = mountpoint
    settings.sizesAreExact = options.sizesAreExact
    settings.copyPrograms = CopyPrograms(and: options.copyPrograms)
    let start = ContinuousClock.now
    settings.ownAttribute = { [tree, server] name in
      MountReport.value(of: name, source: address.text, since: start) { server.downloads?.work ?? tree.work }
    }
    settings.space = { [server] (blocking) throws(Fault) in
      try server.space(blocking).map { MountedTree.Space(available: $0.available, used: $0.used) }
    }
    if !MountedTree.hasDescriptors { settings.workersEvenHeldUp = 0 }
    let mounted = MountedTree(tree, settings, logger: logger)
    var service = MountedTree.Service(
      mountpoint: mountpoint,
      options: options.forSession(source: address.text, type: isOfUser ? "ffmount" : "ffremote"))
    // fusermount3 would unmount when the first process ends.
    if keeping != nil { service.options.removeAll { $0 == "auto_unmount" } }
    service.legacy = keeping.flatMap { keeping in slots.map { handover(keeping, $0) } }
    service.isDebugging = isDebugging
    service.threads = options.threads
    service.idleTime = options.idleTime
    service.unmount = { [mountpoint] in try? Fusermount.unmount(mountpoint, lazily: false) }
    let ending: Session.Ending
    do throws(Session.Failure) {
      ending = try mounted.serve(service) { [keeping] in
        Deadline.exit(after: Self.blocking)
        keeping?.tell(.ending)
        mounted.end()
        server.kept?.cache.finish(within: Self.lastWrites)
        server.stop()
      }
    } catch {
      throw Refusal(.fuseUnavailable, "cannot mount on \(mountpoint): \(error.reason)")
    }
    if ending.status < 0 {
      logger.error("\(mountpoint): the connection to the kernel broke: \(describe(-ending.status))")
    }
    mounted.stop()
    if !isOfUser { removeMountpoint(folder) }
    // A blocked thread may return to the session at any time.
    if !ending.isClean { _exit(ExitStatus.success.rawValue) }
  }

  /// Removes the directory that was mounted on. The next mount of this source may have made one of this name already.
  private func removeMountpoint(_ folder: String?) {
    if let folder, Self.identity(of: mountpoint) == folder { unsafe _ = rmdir(mountpoint) }
  }

  /// The maximum number of ends outside of requests within a minute.
  private static let mostIdleTraps = 10

  /// Returns the requests that the previous process has not answered. Throws if processes keep ending outside of
  /// requests: the mount ends then.
  private func inheritedSlots(_ keeping: Supervision, _ ledger: PersistentNodeTable?) throws -> RequestSlots {
    let slots = try RequestSlots(
      keeping.shared, at: 0, followsLarge: keeping.followsLarge, generation: { [ledger] in ledger?.generation(of: $0) })
    guard slots.idleTraps < Self.mostIdleTraps else {
      keeping.tell(.failing)
      throw Refusal(.failure, "\(mountpoint): its processes keep ending")
    }
    slots.recordTraps()
    return slots
  }

  private func handover(_ keeping: Supervision, _ slots: RequestSlots) -> Handover {
    Handover(ordinal: keeping.ordinal, connection: keeping.connection, slots: slots) { connection in
      keeping.tell(.mounted, connection)
    } unmount: { [mountpoint] in
      _ = Fusermount.detach(mountpoint)
    }
  }

  /// Returns the inode number of a directory and its ctime, since numbers are reused. Returns `nil` if it does not exist.
  static func identity(of folder: String) -> String? {
    guard let status = try? FileStatus(of: FileName(folder.utf8), in: AT_FDCWD) else { return nil }
    return "\(status.inode) \(status.changed.seconds) \(status.changed.nanoseconds)"
  }

  /// Returns the root if the server answers and admits this user. Blocks for some seconds at most.
  private func root(of server: RemoteServer) throws -> RemoteItem {
    let address = server.address
    if let root = server.beginning { return RemoteItem(root: root, of: server) }
    if server.changes != nil { try server.checkWriting() }
    do throws(Fault) {
      let fetch = server.item(at: [UInt8(ascii: "/")], named: "", isRepeated: false, limit: Self.longestStart)
      guard let root = try fetch.value(.blocking), root.kind == .folder else {
        throw Fault(.system(ENOENT), "\(address.text) is not an ffmount server (check the address)")
      }
      return RemoteItem(root: root, of: server)
    } catch {
      let reason = error.reason.isEmpty ? "the server gave no reason" : error.description
      throw Refusal(.sourceMissing, "cannot show \(address.text): \(reason)")
    }
  }

  /// The time limit for the first request, in milliseconds.
  private static let longestStart = 15_000
}
