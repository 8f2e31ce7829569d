import Assembly
import Bytes
import FileTrees
import Files
import FuseLink
import Glibc
import Logging
import RenditionViews
import Tree

/// A validated source, mountpoint and options. Errors are reported before anything is done.
struct MountPlan {
  let shown: ShownSource
  let mountpoint: String
  let options: MountOptions
  /// The address of a source on another machine. Nil for one on this machine.
  private let address: String?

  init(source: String, mountpoint: String, _ options: MountOptions) throws {
    try RunningMount.expectAnswers(onTheWayTo: [source], toDo: "show")
    try options.checkWriting()
    shown = try ShownSource(source)
    (address, self.options) = Self.locate(shown, options)
    try options.checkUse(address == nil ? .here : .elsewhere)
    if options.isWritable, !shown.isFolder {
      throw Refusal(
        .sourceUnsuitable,
        "cannot show \(source) with -o rw: views of a file cannot be changed (leave out rw, or give the folder it is in)"
      )
    }
    if shown.isFolder, let view = options.view {
      let near = ViewListing.Preset(rawValue: view).map { "did you mean -o views=\($0.rawValue)?" }
      throw Refusal(
        .usage, "-o view=\(view): SOURCE is a folder (\(near ?? "leave it out, or give a file as SOURCE"))")
    }
    let place = try Mountpoint(mountpoint)
    self.mountpoint = place.path
    try checkApart(mountpoint)
    try place.check(options)
  }

  /// Creates the plan of an existing mount that this process takes over. Makes no requests to the mount, since only
  /// this process can answer them.
  ///
  /// - Parameters: those of an earlier plan.
  init(takingOver source: String, _ mountpoint: String, _ options: MountOptions) throws {
    self.mountpoint = mountpoint
    shown = try ShownSource(source)
    (address, self.options) = Self.locate(shown, options)
  }

  /// Returns the address of a source on another machine, by which caches identify it, and the options for that.
  private static func locate(_ shown: ShownSource, _ options: MountOptions) -> (String?, MountOptions) {
    guard let address = MountTable().address(of: shown.path) else { return (nil, options) }
    var options = options
    options.tree.sourceID = options.sourceID ?? address
    options.name = options.name ?? address
    return (address, options)
  }

  /// The absolute path, with symbolic links resolved.
  var source: String { shown.path }

  /// The source for users: its address if it is on another machine, otherwise its path.
  var shownSource: String { address ?? source }

  /// Returns whether the mount is supervised, so that another process starts when the serving one dies. By default,
  /// only mounts in the background are supervised.
  func isKept(inForeground: Bool) -> Bool {
    options.isKept ?? (!inForeground && !options.unmountsAutomatically && Supervision.isPossible)
  }

  private func checkApart(_ given: String) throws {
    func isInside(_ inner: String, _ outer: String) -> Bool {
      inner == outer || inner.hasPrefix(outer.hasSuffix("/") ? outer : outer + "/")
    }
    let advice = "use a mountpoint elsewhere, so that the mount does not show itself"
    if isInside(mountpoint, source) {
      throw Refusal(.mountpointUnusable, "cannot mount on \(given): inside the source \(source) (\(advice))")
    }
    if isInside(source, mountpoint) {
      throw Refusal(.mountpointUnusable, "cannot mount on \(given): the source \(source) is inside it (\(advice))")
    }
  }
}

/// A supervised mount.
extension MountPlan {
  /// Mounts with a supervisor process, which restarts this program with `arguments` whenever it dies. In the
  /// foreground, this process becomes the supervisor.
  func runKept(inForeground: Bool, _ arguments: [String]) throws {
    func become(report: Int32?) throws {
      try Supervision.become(
        report: report, memory: largestMemory, unmounts: options.unmountsIfGivenUp, arguments)
    }
    if inForeground { return try become(report: nil) }
    if let lack = Converter.lack(options) { Terminal.logError(lack) }
    if let warning = options.writingWarning { Terminal.logError("warning: \(warning)") }
    try Background.start(reportingTo: { report in try become(report: report) })
  }

  /// Serves as a process started by the supervisor. Blocks.
  func run(keptBy keeping: Supervision, inForeground: Bool) throws {
    try Background.reporting(to: keeping.report) { ready in
      try serve(isDebugging: false, logsToTerminal: inForeground, keeping) {
        ready()
        keeping.tell(.answering)
      }
    }
  }

  /// The maximum memory of a process, in bytes: twice the limit of its caches and more, for work, leaks, and memory
  /// retained by allocators.
  private var largestMemory: Int64 { 2 * Int64(options.memory) + 256 << 20 }

  func legacy(_ keeping: Supervision, _ slots: RequestSlots) -> Handover {
    Handover(ordinal: keeping.ordinal, connection: keeping.connection, slots: slots) { connection in
      keeping.tell(.mounted, connection)
    } unmount: { [mountpoint] in
      _ = Fusermount.detach(mountpoint)
    }
  }

  /// The reason that `ffmount why` gives for files that ended processes.
  static let refusal = "it has ended ffmount twice, and is not tried again in this mount"

  /// Logs what ended the previous process, and records this one's end if it fails. Throws if processes keep ending
  /// outside of requests: the supervisor then refuses all requests, or the mount has been unmounted.
  func checkTraps(_ slots: RequestSlots, _ ledger: PersistentNodeTable?, _ keeping: Supervision?, _ logger: Logger)
    throws
  {
    for trap in slots.traps {
      let work = trap.node == 0 ? "in the background" : "on \(ledger?.path(of: trap.node) ?? "a removed file")"
      let moment = "\(max(0, time(nil) - trap.seconds)) s ago"
      logger.error("\(mountpoint): the previous process ended \(moment) by signal \(trap.signal), during work \(work)")
    }
    guard slots.idleTraps < Self.mostIdleTraps else {
      if let keeping, keeping.canRefuse {
        keeping.tell(.failing)
      } else {
        _ = Fusermount.detach(mountpoint)
      }
      throw Refusal(.failure, "\(mountpoint): its processes keep ending (use -f to see why)")
    }
    slots.recordTraps()
  }

  /// The maximum number of ends outside of requests within a minute.
  private static let mostIdleTraps = 10
}

/// The passwords of a mounted file.
extension MountPlan {
  /// Asks for a password if the mount shows a file that requires one. Must be called when the mount answers. Problems
  /// are reported on standard error: the mount exists anyway.
  func askForPassword() {
    // mount(8) has no user, and an automounter does not let this process in.
    guard !shown.isFolder, !MountOptions.isFromMount else { return }
    let locked = LockedFiles(at: mountpoint, in: mountpoint, named: source)
    do {
      guard let file = locked.known else { return }
      if PasswordPrompt.isPossible, case .unlocked = try locked.ask(.found(file)) { return }
    } catch let refusal as Refusal {
      Terminal.logError(refusal.sentence)
    } catch { Terminal.logError("\(error)") }
    Terminal.logError("\(shownSource) requires a password (type: ffmount unlock \(ShellWord.quoted(mountpoint)))")
  }
}
