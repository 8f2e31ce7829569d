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
    if inForeground { return try Keeping.become(report: nil, memory: largestMemory, arguments) }
    if let lack = Converter.lack(options) { Terminal.logError(lack) }
    try Background.start(reportingTo: { report in try Keeping.become(report: report, memory: largestMemory, arguments) }
    )
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

  /// Logs what ended the process before, and has this one's end recorded. Returns false if it is no use to go on: then the
  /// mount has been ended.
  func goesOn(_ slots: RequestSlots, _ ledger: NodeLedger?, _ logger: Logger) throws -> Bool {
    for trap in slots.traps {
      let work = trap.node == 0 ? "that nobody has asked for" : "on \(ledger?.path(of: trap.node) ?? "what is gone")"
      let moment = "\(max(0, time(nil) - trap.seconds)) s ago"
      logger.error("\(mountpoint): the process before ended \(moment) by signal \(trap.signal), in work \(work)")
    }
    guard slots.idleTraps < Self.mostIdleTraps else {
      logger.critical("\(mountpoint): given up and unmounted: its processes end by themselves (see why with -f)")
      _ = Fusermount.detach(mountpoint)
      return false
    }
    slots.recordTraps()
    return true
  }

  /// In a minute.
  private static let mostIdleTraps = 10
}
