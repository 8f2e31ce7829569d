import ArgumentParser
import Assembly
import FileTrees
import Glibc
import Index
import Jobs
import MailViews
import Tree

/// `ffmount status`: prints the indexed and cached data with its size, and the conversions of mounts.
struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Shows the indexes, caches, conversions and failures.",
    usage: "ffmount status [--json]")

  @Flag(help: "Print a JSON object.")
  var json = false

  func run() throws {
    // Must precede any second thread.
    let all = RunningMount.all()
    let mounts = all.filter { mount in
      mount.report.map { $0.work.made > 0 || !$0.work.failures.isEmpty } ?? false
    }
    let stuck = all.filter { $0.hindrance != nil }.map(\.entry.mountpoint)
    if json { return print(try document(mounts, stuck).document) }
    try showKept(stuck)
    for mount in mounts { show(mount) }
  }

  // MARK: Text output

  private func showKept(_ stuck: [String]) throws {
    guard let folder = CacheFolder.path() else {
      return print("Nothing is kept: no cache folder (set XDG_CACHE_HOME to an absolute path).")
    }
    let index = try IndexFolder.index()
    defer { index.finish(within: .seconds(2)) }
    let searches = index.documentIndexes
    print("\(folder): \(Amount.bytes(index.size + searches.size))")
    for entry in Indexing(index: index).entries() { print("  " + Terminal.shown(describe(entry, stuck))) }
    if searches.count > 0 {
      let noun = searches.count == 1 ? "search index" : "search indexes"
      print("  \(searches.count) \(noun) of folders: \(Amount.bytes(searches.size)) kept")
    }
    if let made = Converter.cache(in: folder)?.contents, made.count > 0 {
      print("  \(Amount.of(made.count, "converted file")): \(Amount.bytes(made.size)) kept")
    }
    if let blocks = Converter.blocks(in: folder)?.contents, blocks.count > 0 {
      print("  blocks of files elsewhere: \(Amount.bytes(blocks.size)) kept")
    }
  }

  private func describe(_ entry: Indexing.Entry, _ stuck: [String]) -> String {
    let kept = "\(Amount.bytes(entry.size)) kept, used \(Amount.day(entry.usedAt))"
    guard let messages = entry.messages else { return "an archive's restart points: \(kept)" }
    let state = state(entry, stuck).map { " (\($0))" } ?? ""
    return "\(entry.path ?? "a mailbox"): \(Amount.of(messages, "message"))\(state), \(kept)"
  }

  /// Returns whether the file was removed or changed since it was indexed. Does not access files in `stuck` mounts.
  private func state(_ entry: Indexing.Entry, _ stuck: [String]) -> String? {
    guard let path = entry.path, let size = entry.fileSize else { return nil }
    if stuck.contains(where: { path.hasPrefix($0 + "/") }) { return "in a mount that does not answer" }
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return "not there any more" }
    return Int64(status.st_size) == size ? nil : "changed since"
  }

  private func show(_ mount: RunningMount) {
    guard let work = mount.report?.work else { return }
    let failed = work.failures.isEmpty ? "" : Terminal.painted(", \(work.failures.count) failed", .red)
    print("\(Terminal.shown(mount.entry.mountpoint)): \(work.made) converted since it was mounted\(failed)")
    for failure in work.failures {
      print("  \(Terminal.shown("\(failure.path) (\(failure.recipe)): \(failure.reason)"))")
    }
  }

  // MARK: JSON output

  private func document(_ mounts: [RunningMount], _ stuck: [String]) throws -> JSON {
    let folder = CacheFolder.path()
    let index = Index(folder: folder)
    defer { index.finish(within: .seconds(2)) }
    let files = Indexing(index: index).entries().map { entry -> JSON in
      [
        "path": JSON(entry.path), "messages": JSON(entry.messages), "state": JSON(state(entry, stuck) ?? "unchanged"),
        "size": .number(entry.size), "used": .number(entry.usedAt),
      ]
    }
    let renditions = Converter.cache(in: folder)?.contents ?? (count: 0, size: 0)
    let blocks = Converter.blocks(in: folder)?.contents ?? (count: 0, size: 0)
    let searches = index.documentIndexes
    return [
      "folder": JSON(folder), "size": .number(index.size + searches.size), "files": .array(files),
      "searches": ["count": JSON(searches.count), "size": .number(searches.size)],
      "renditions": ["count": JSON(renditions.count), "size": .number(renditions.size)],
      "blocks": ["count": JSON(blocks.count), "size": .number(blocks.size)],
      "mounts": .array(
        mounts.map { mount in
          let work = mount.report?.work
          return [
            "mountpoint": .string(mount.entry.mountpoint), "converted": JSON(work?.made),
            "failures": .array(
              (work?.failures ?? []).map { failure in
                [
                  "path": .string(failure.path), "recipe": .string(failure.recipe),
                  "reason": .string(failure.reason),
                ]
              }),
          ]
        }),
    ]
  }
}
