import AllViews
import Assembly
import Bytes
import CPosix
import FileTrees
import Files
import FuseLink
import Glibc
import Index
import Logging
import Mount
import RenditionViews
import Threads
import Tree

extension MountPlan {
  /// Mounts. In the background, returns when the mount answers, and `ended` is called when the mount ends. In the
  /// foreground, blocks until the mount ends.
  func run(inForeground: Bool, isDebugging: Bool = false, ended: () -> Void = {}) throws {
    if inForeground { return try serve(isDebugging: isDebugging, logsToTerminal: true) {} }
    // The user does not see the daemon's log.
    if let lack = Converter.lack(options) { Terminal.logError(lack) }
    if let warning = options.writingWarning { Terminal.logError("warning: \(warning)") }
    try Background.run { ready in
      try serve(isDebugging: false, logsToTerminal: false, ready: ready)
      ended()
    }
  }

  /// Mounts and answers requests until the mount ends or a signal arrives. Blocks.
  func serve(
    isDebugging: Bool, logsToTerminal: Bool, _ keeping: Supervision? = nil, ready: @escaping @Sendable () -> Void
  ) throws {
    var logger = Logger(label: "ffmount") { label -> any LogHandler in
      if logsToTerminal { return TerminalLogHandler() }
      return SyslogHandler(label: label)
    }
    logger.logLevel = .info
    // Ten threads that rarely allocate at the same time do not need ten heaps.
    ffmount_limit_arenas(2)
    // Larger allocations are mapped, so that they are returned to the system when freed, and not copied when they grow.
    ffmount_map_from(2 << 20)
    Session.blockSignals()
    let ledger = try keeping.map { try PersistentNodeTable($0.shared, at: RequestSlots.capacity) }
    // Only writable mounts need the following, which is stored last.
    let isChanged = options.isWritable
    let openLedger = try keeping.flatMap { keeping in
      isChanged ? try OpenLedger(keeping.shared, at: RequestSlots.capacity + PersistentNodeTable.capacity) : nil
    }
    if let openLedger, let keeping, !keeping.hold(openLedger) {
      logger.warning("\(mountpoint): open files end with this process")
    }
    let journal = try keeping.flatMap { keeping in
      let place = RequestSlots.capacity + PersistentNodeTable.capacity + OpenLedger.capacity
      return isChanged ? try ChangeJournal(keeping.shared, at: place, ordinal: keeping.ordinal) : nil
    }
    let slots = try keeping.map { keeping in
      try RequestSlots(
        keeping.shared, at: 0, journal: journal, followsLarge: keeping.followsLarge,
        depth: { ledger?.path(of: $0)?.utf8.count { $0 == UInt8(ascii: "/") } ?? 0 },
        generation: { [ledger] in ledger?.generation(of: $0) })
    }
    if let slots { try checkTraps(slots, ledger, keeping, logger) }
    // Messages about the mount are logged only once.
    let isFirst = keeping?.connection == nil
    if isFirst, let warning = options.writingWarning { logger.warning("\(mountpoint): \(warning)") }
    // New files get exactly the permissions that their creator requests.
    if options.isWritable { _ = umask(0) }
    if isFirst { options.passwordFile?.log(by: { [logger] line in logger.warning("\(line)") }) }
    let cacheFolder = CacheFolder.path(awayFrom: mountpoint)
    if let shared = options.sharedCache, (shared + "/").hasPrefix(mountpoint == "/" ? "/" : mountpoint + "/") {
      throw Refusal(.usage, "-o shared_cache=\(shared): inside the mount itself (give a folder elsewhere)")
    }
    let index = Index(folder: cacheFolder)
    if isFirst, cacheFolder != nil, let reason = index.obstacle {
      logger.notice("nothing is kept for the next mount: \(reason)")
    }
    let conversions = try Converter.conversions(
      options, index: index, cacheFolder: cacheFolder, spools: ShownSource.spoolFolder, logger,
      tellsLack: isFirst)
    // Also reserves descriptors for the threads' pipes and wake-ups, and /dev/fuse.
    let reserve = ShownSource.reserve(options, conversions) + 3 * options.threads
    // The user can give a password later.
    var treeOptions = options
    treeOptions.tree.canBeLocked = true
    let given = try GivenPasswords(addingTo: options.tree.passwords, keeping.map(passwordMemory))
    let (tree, root): (Tree, RealRoot)
    do {
      (tree, root) = try shown.tree(treeOptions, index, conversions, reserve: reserve, ledger: ledger, openLedger)
    } catch let refusal as Refusal {
      guard !shown.isFolder, let lack = AbsentConversions.reason(forFoldersOfFileAt: source) else { throw refusal }
      throw Refusal(.sourceUnsuitable, "cannot show \(source): \(lack)")
    }

    var settings = MountedTree.Options()
    settings.started = { [options, tree] in
      ready()
      if options.indexesWhileIdle { tree.indexWhileIdle() }
    }
    settings.mountpoint = mountpoint
    settings.sizesAreExact = options.sizesAreExact
    settings.players = Players(and: options.players)
    settings.copyPrograms = CopyPrograms(and: options.copyPrograms)
    settings.root = root
    let start = ContinuousClock.now
    settings.ownAttribute = { [shownSource, tree] name in
      given.value(of: name) ?? MountReport.value(of: name, source: shownSource, since: start) { tree.work }
    }
    settings.refusal = { [slots] node in slots?.hasEndedProcesses(node) ?? false ? Self.refusal : nil }
    if !MountedTree.hasDescriptors { settings.workersEvenHeldUp = 0 }
    let mounted = MountedTree(tree, settings, logger: logger)

    var service = MountedTree.Service(mountpoint: mountpoint, options: options.forSession(source: source))
    // fusermount3 would unmount when the first process ends.
    if keeping != nil { service.options.removeAll { $0 == "auto_unmount" } }
    service.isDebugging = isDebugging
    service.threads = options.threads
    service.idleTime = options.idleTime
    service.unmount = { [mountpoint] in try? Fusermount.unmount(mountpoint, lazily: false) }
    service.legacy = keeping.flatMap { keeping in slots.map { legacy(keeping, $0) } }
    let ending: Session.Ending
    do throws(Session.Failure) {
      ending = try mounted.serve(service) {
        Deadline.exit(after: Self.blocking)
        keeping?.tell(.ending)
        mounted.end()
      }
    } catch {
      // Another process may have mounted on it since it was checked.
      if let use = Mountpoint.use(of: mountpoint, mountpoint) { throw use }
      let isOutOfFiles = error.reason.hasSuffix(describe(EMFILE))
      let advice = isOutOfFiles ? Refusal.limitAdvice(EMFILE) : " (run 'ffmount doctor')"
      throw Refusal(.fuseUnavailable, "cannot mount on \(mountpoint): \(error.reason)\(advice)")
    }
    if ending.status < 0 {
      logger.error("\(mountpoint): the connection to the kernel broke: \(describe(-ending.status))")
    }
    // The order is: stop requests, then replies, then the session.
    mounted.stop()
    index.finish(within: .seconds(1))
    // A blocked thread may return to the session at any time.
    if !ending.isClean { _exit(ExitStatus.success.rawValue) }
  }

  /// Returns the memory with the passwords given to an earlier process, and to this one.
  private func passwordMemory(_ keeping: Supervision) throws -> SharedMemory {
    let offset = RequestSlots.capacity + PersistentNodeTable.capacity + OpenLedger.capacity + ChangeJournal.capacity
    return try SharedMemory(keeping.shared, at: offset, capacity: GivenPasswords.capacity)
  }

  /// The maximum delay of the process's exit by blocked work, for example on a source that does not respond, in
  /// microseconds.
  private static let blocking: UInt32 = 1_800_000
}
