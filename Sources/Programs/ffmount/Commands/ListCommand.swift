import ArgumentParser
import Assembly
import Bytes
import Glibc
import Tree

/// `ffmount list`: the mounts of ffmount and their activities.
struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "Lists the mounts, and the work in progress.",
    usage: "ffmount list [--json]",
    discussion: """
      Of other users' mounts, it shows only the public information: mountpoints and sources.
      """)

  @Flag(help: "Print a JSON array of objects.")
  var json = false

  func run() throws {
    // The mounts of this user are listed first.
    let (all, readers) = RunningMount.withReaders()
    let mounts = all.filter { $0.entry.owner == geteuid() } + all.filter { $0.entry.owner != geteuid() }
    if json { return print(JSON.array(mounts.map(Self.value)).document) }
    if mounts.isEmpty, readers.isEmpty { print("Nothing is mounted by ffmount.") }
    for mount in mounts {
      print(Terminal.painted(Terminal.shown(mount.entry.mountpoint), .bold))
      print("  of \(Terminal.shown(mount.source))")
      for line in Self.lines(mount) { print("  " + line) }
    }
    for reader in readers {
      print(Terminal.painted(Terminal.shown(reader.entry.mountpoint), .bold))
      print("  of \(Terminal.shown(reader.source))")
      for line in Self.lines(reader) { print("  " + line) }
    }
  }

  // MARK: Text output

  private static func lines(_ mount: RunningMount) -> [String] {
    switch mount.state {
    case .running(let report):
      let age = Amount.time(report.seconds)
      let work = report.work
      var lines = ["\(Terminal.painted("running", .green)) for \(age), process \(report.process)\(counts(work))"]
      lines += work.activities.map { activity in
        Terminal.wrapped(describe(activity), columns: Terminal.columns() - 2, indent: 4)
      }
      if work.waiting > 0 { lines.append("waiting for a converter: \(work.waiting)") }
      return lines
    case .dead:
      let ended = mount.entry.isOurs ? "its daemon" : "the program that reads this source"
      return [Terminal.painted("dead", .red) + ": \(ended) has ended (type: \(mount.entry.unmountCommand))"]
    case .silent:
      return [
        Terminal.painted("silent", .yellow)
          + ": it does not answer; its source may hang (type: \(mount.entry.lazyUnmountCommand))"
      ]
    case .closed: return ["mounted by \(user(mount.entry.owner))"]
    }
  }

  private static func counts(_ work: WorkReport) -> String {
    (work.made > 0 ? ", \(work.made) converted" : "")
      + (work.failures.isEmpty ? "" : ", \(work.failures.count) failed (ffmount status says why)")
  }

  private static func describe(_ activity: WorkReport.Activity) -> String {
    let path = Terminal.shown(activity.path)
    var progress = ""
    if let (done, size) = activity.progress {
      let percent = size > 0 ? Int(max(0, min(1, Double(done) / Double(size))) * 100) : 100
      progress =
        ": \(percent) %" + (activity.kind == .converting ? "" : ", \(Amount.bytes(done)) of \(Amount.bytes(size))")
    }
    switch activity.kind {
    case .converting: return "converting \(path) (\(activity.recipe)) for \(activity.seconds ?? 0) s\(progress)"
    case .messages: return "scanning the messages of \(path)\(progress)"
    case .words: return "indexing the text of \(path)\(progress)"
    case .download: return "copying \(path) from its server for \(activity.seconds ?? 0) s\(progress)"
    case .documents:
      let reason = activity.recipe.isEmpty ? "" : " (\(Terminal.shown(activity.recipe)))"
      return "indexing the documents of \(path)\(progress)\(reason)"
    }
  }

  private static func user(_ number: uid_t?) -> String {
    guard let number else { return "somebody" }
    guard let entry = unsafe getpwuid(number), let name = unsafe entry.pointee.pw_name else { return "user \(number)" }
    return unsafe String(cString: name)
  }

  // MARK: JSON output

  private static func value(_ mount: RunningMount) -> JSON {
    let report = mount.report
    let state =
      switch mount.state {
      case .running: "running"
      case .dead: "dead"
      case .silent: "silent"
      case .closed: "closed"
      }
    let activities = report?.work.activities ?? []
    return [
      "mountpoint": .string(mount.entry.mountpoint), "source": .string(mount.source), "state": .string(state),
      "user": JSON(mount.entry.owner.map { Int($0) }), "process": JSON(report.map { Int($0.process) }),
      "seconds": JSON(report?.seconds), "version": JSON(report?.version),
      "converting": .array(
        activities.filter { $0.kind == .converting }.map { activity in
          ["path": .string(activity.path), "recipe": .string(activity.recipe), "seconds": JSON(activity.seconds)]
        }),
      "copying": .array(
        activities.filter { $0.kind == .download }.map { activity in
          [
            "path": .string(activity.path), "seconds": JSON(activity.seconds),
            "done": JSON(activity.progress?.done), "size": JSON(activity.progress?.size),
          ]
        }),
      "waiting": JSON(report?.work.waiting), "converted": JSON(report?.work.made),
      "failed": JSON(report?.work.failures.count),
      "indexing": .array(
        activities.filter { ![.converting, .download].contains($0.kind) }.map { activity in
          [
            "path": .string(activity.path), "what": .string(activity.kind.rawValue),
            "done": JSON(activity.progress?.done), "size": JSON(activity.progress?.size),
            "reason": JSON(activity.recipe.isEmpty ? nil : activity.recipe),
          ]
        }),
    ]
  }
}
