import ArgumentParser
import Glibc
import Index
import Jobs
import MailViews
import Tree

/// `ffmount status`: prints what is indexed and cached, and its size.
struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Shows what is indexed and cached, and how much room it takes.",
    usage: "ffmount status")

  func run() throws {
    guard let folder = CacheFolder.path() else {
      print("Nothing is kept: there is no folder for it (set XDG_CACHE_HOME to an absolute path).")
      return
    }
    let index = try IndexFolder.index()
    let indexing = Indexing(index: index)
    defer { index.finish(within: .seconds(2)) }
    print("\(folder): \(Amount.bytes(index.size))")
    for entry in indexing.entries() { print("  " + describe(entry)) }
    if let made = Converter.cache(in: folder)?.contents, made.count > 0 {
      print("  \(made.count) converted \(made.count == 1 ? "file" : "files"): \(Amount.bytes(made.size)) kept")
    }
  }

  private func describe(_ entry: Indexing.Entry) -> String {
    let kept = "\(Amount.bytes(entry.size)) kept, used \(Amount.day(entry.usedAt))"
    guard let messages = entry.messages else { return "an archive's restart points: \(kept)" }
    return "\(entry.path ?? "a mailbox"): \(messages) messages\(state(entry)), \(kept)"
  }

  /// Whether the file was removed or changed since it was indexed.
  private func state(_ entry: Indexing.Entry) -> String {
    guard let path = entry.path, let size = entry.fileSize else { return "" }
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return " (not there any more)" }
    return Int64(status.st_size) == size ? "" : " (changed since)"
  }
}

/// `ffmount cache clear [PATH…]`: removes cached data.
struct CacheCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache", abstract: "Forgets what is kept from one mount to the next.",
    usage: "ffmount cache clear [PATH…]", subcommands: [Clear.self])

  struct Clear: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "clear", abstract: "Forgets what is kept: of some files, or of all.",
      usage: "ffmount cache clear [PATH…]")

    @Argument(help: "Files to forget; all if none is named.", completion: .file())
    var paths: [String] = []

    func run() throws {
      let index = try IndexFolder.index()
      defer { index.finish(within: .seconds(10)) }
      if paths.isEmpty {
        let count = index.forget(sourcesStartingWith: []) + (Converter.cache(in: CacheFolder.path())?.clear() ?? 0)
        print("Forgot \(count) \(count == 1 ? "file" : "files").")
        return
      }
      let indexing = Indexing(index: index)
      let renditions = Converter.cache(in: CacheFolder.path())
      for path in paths {
        let place = try RealPlace(path)
        guard let name = place.name else {
          throw Refusal(.usage, "\(path) is a folder (name the files to forget)")
        }
        let wasKept = try indexing.forget(name, in: place.root, renditions: renditions)
        print(wasKept ? "Forgot \(path)." : "Nothing was kept of \(path).")
      }
    }
  }
}
