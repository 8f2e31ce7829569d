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
  /// Mounts: returns when the mount answers and goes on in the background, where `ended` is called when it is gone; or
  /// blocks until then, in the foreground.
  func run(inForeground: Bool, isDebugging: Bool = false, ended: () -> Void = {}) throws {
    if inForeground { return try serve(isDebugging: isDebugging, logsToTerminal: true) {} }
    // The daemon's log is not before the user's eyes.
    if let lack = Converter.lack(options) { Terminal.logError(lack) }
    if let warning = options.writingWarning { Terminal.logError("warning: \(warning)") }
    try Background.run { ready in
      try serve(isDebugging: false, logsToTerminal: false, ready: ready)
      ended()
    }
  }

  /// Mounts and answers requests until the mount is gone or a signal ends it. Blocks.
  func serve(
    isDebugging: Bool, logsToTerminal: Bool, _ keeping: Keeping? = nil, ready: @escaping @Sendable () -> Void
  ) throws {
    var logger = Logger(label: "ffmount") { label -> any LogHandler in
      if logsToTerminal { return TerminalLogHandler() }
      return SyslogHandler(label: label)
    }
    logger.logLevel = .info
    // Ten threads that rarely allocate at the same time do not need ten heaps.
    ffmount_limit_arenas(2)
    // Larger allocations are mapped: returned to the system at once when freed, and not copied when they grow.
    ffmount_map_from(2 << 20)
    Session.blockSignals()
    let ledger = try keeping.map { try NodeLedger($0.shared, at: RequestSlots.capacity) }
    // What only changes need, behind all else.
    let isChanged = options.isWritable
    let openLedger = try keeping.flatMap { keeping in
      isChanged ? try OpenLedger(keeping.shared, at: RequestSlots.capacity + NodeLedger.capacity) : nil
    }
    if let openLedger, let keeping, !keeping.hold(openLedger) {
      logger.warning("\(mountpoint): what is open ends with this process")
    }
    let journal = try keeping.flatMap { keeping in
      let place = RequestSlots.capacity + NodeLedger.capacity + OpenLedger.capacity
      return isChanged ? try ChangeJournal(keeping.shared, at: place, ordinal: keeping.ordinal) : nil
    }
    let slots = try keeping.map { keeping in
      try RequestSlots(
        keeping.shared, at: 0, journal: journal, followsLarge: keeping.followsLarge,
        depth: { ledger?.path(of: $0)?.utf8.count { $0 == UInt8(ascii: "/") } ?? 0 },
        generation: { [ledger] in ledger?.generation(of: $0) })
    }
    if let slots { try checkTraps(slots, ledger, keeping, logger) }
    // What it says of the mount it says once.
    let isFirst = keeping?.connection == nil
    if isFirst, let warning = options.writingWarning { logger.warning("\(mountpoint): \(warning)") }
    // What is made in the mount has the permissions that its maker gives it.
    if options.isWritable { _ = umask(0) }
    if isFirst { options.passwordFile?.log(by: { [logger] line in logger.warning("\(line)") }) }
    let cacheFolder = CacheFolder.path(awayFrom: mountpoint)
    if isFirst, let reason = cacheFolder.flatMap(CacheFolder.objection) {
      logger.notice("nothing is kept for the next mount: \(reason)")
    }
    if let shared = options.sharedCache, (shared + "/").hasPrefix(mountpoint == "/" ? "/" : mountpoint + "/") {
      throw Refusal(.usage, "-o shared_cache=\(shared): it is in the mount itself (give a folder elsewhere)")
    }
    let index = Index(folder: cacheFolder)
    let conversions = try Converter.conversions(
      options, index: index, cacheFolder: cacheFolder, spools: ShownSource.spoolFolder, logger,
      tellsLack: isFirst)
    // Threads' pipes and wake-ups, and /dev/fuse, are reserved, too.
    let reserve = ShownSource.reserve(options, conversions) + 3 * options.threads
    let (tree, root) = try shown.tree(options, index, conversions, reserve: reserve, ledger: ledger, openLedger)

    var settings = MountedTree.Options()
    settings.started = ready
    settings.mountpoint = mountpoint
    settings.sizesAreExact = options.sizesAreExact
    settings.players = Players(and: options.players)
    settings.root = root
    let start = ContinuousClock.now
    settings.ownAttribute = { [source, tree] name in
      MountReport.value(of: name, source: source, since: start) { tree.work }
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
        Deadline.exit(after: Self.patience)
        keeping?.tell(.ending)
        mounted.end()
      }
    } catch {
      throw Refusal(.fuseUnavailable, "cannot mount on \(mountpoint): \(error.reason)")
    }
    if ending.status < 0 {
      logger.error("\(mountpoint): the connection to the kernel broke: \(describe(-ending.status))")
    }
    // Order: stop requests, then replies, then the session.
    mounted.stop()
    index.finish(within: .seconds(1))
    // A blocked thread may return to the session at any time.
    if !ending.isClean { _exit(ExitStatus.success.rawValue) }
  }

  /// How long blocked work, for example on a source that does not respond, delays the exit of the process, in
  /// microseconds.
  private static let patience: UInt32 = 1_800_000
}
