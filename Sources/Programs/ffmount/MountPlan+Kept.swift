import Assembly
import FileTrees
import FuseLink
import Glibc
import Logging
import RenditionViews
import Tree

/// A process that goes on for another.
extension MountPlan {
  /// The same with a keeper, which starts this program again with `arguments` whenever it dies. In the foreground this
  /// process becomes the keeper.
  func runKept(inForeground: Bool, _ arguments: [String]) throws {
    func become(report: Int32?) throws {
      try Keeping.become(
        report: report, memory: largestMemory, unmounts: options.unmountsIfGivenUp, arguments)
    }
    if inForeground { return try become(report: nil) }
    if let lack = Converter.lack(options) { Terminal.logError(lack) }
    if let warning = options.writingWarning { Terminal.logError("warning: \(warning)") }
    try Background.start(reportingTo: { report in try become(report: report) })
  }

  /// Serves as one of the processes that a keeper starts. Blocks.
  func run(keptBy keeping: Keeping, inForeground: Bool) throws {
    try Background.reporting(to: keeping.report) { ready in
      try serve(isDebugging: false, logsToTerminal: inForeground, keeping) {
        ready()
        keeping.tell(.answering)
      }
    }
  }

  /// Of a process, in bytes: what its caches may have, and as much again and more for work, leaks, and what allocators
  /// keep.
  private var largestMemory: Int64 { 2 * Int64(options.memory) + 256 << 20 }

  func legacy(_ keeping: Keeping, _ slots: RequestSlots) -> Legacy {
    Legacy(ordinal: keeping.ordinal, connection: keeping.connection, slots: slots) { connection in
      keeping.tell(.mounted, connection)
    } unmount: { [mountpoint] in
      _ = Fusermount.detach(mountpoint)
    }
  }

  /// What `ffmount why` says of what ended processes.
  static let refusal = "working on it has ended ffmount twice: it is not tried again in this mount"

  /// Logs what ended the process before, and has this one's end recorded. Throws if another process would end as that did:
  /// the keeper then refuses all requests, or the mount has been unmounted.
  func checkTraps(_ slots: RequestSlots, _ ledger: NodeLedger?, _ keeping: Keeping?, _ logger: Logger) throws {
    for trap in slots.traps {
      let work = trap.node == 0 ? "that nobody has asked for" : "on \(ledger?.path(of: trap.node) ?? "what is gone")"
      let moment = "\(max(0, time(nil) - trap.seconds)) s ago"
      logger.error("\(mountpoint): the process before ended \(moment) by signal \(trap.signal), in work \(work)")
    }
    guard slots.idleTraps < Self.mostIdleTraps else {
      if let keeping, keeping.canRefuse {
        keeping.tell(.failing)
      } else {
        _ = Fusermount.detach(mountpoint)
      }
      throw Refusal(.failure, "\(mountpoint): its processes end by themselves (see why with -f)")
    }
    slots.recordTraps()
  }

  /// In a minute.
  private static let mostIdleTraps = 10
}
