import ArgumentParser
import Assembly
import Bytes
import FileTrees
import Files
import FindViews
import Glibc
import Index
import Jobs
import MailViews
import Tree

/// `ffmount cache clear [PATH…]`: removes cached data.
struct CacheCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache", abstract: "Manages the indexes, converted files and blocks that are kept.",
    usage: "ffmount cache clear [PATH…]", subcommands: [Clear.self])

  struct Clear: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "clear", abstract: "Removes the indexes and converted files of some files or folders, or of all.",
      usage: "ffmount cache clear [PATH…]")

    @Argument(
      help: "The files to forget, and the folders whose search indexes are removed; all if none is given.",
      completion: .file())
    var paths: [String] = []

    func run() throws {
      try RunningMount.expectAnswers(onTheWayTo: paths, toDo: "forget")
      let index = try IndexFolder.index()
      defer { index.finish(within: .seconds(10)) }
      let indexing = Indexing(index: index)
      if paths.isEmpty {
        // Files are removed first: the index cannot be changed on a full disk.
        let searches = index.forgetDocuments()
        var count = 0
        do throws(Fault) {
          count = try Converter.cache(in: CacheFolder.path())?.clear() ?? 0
          _ = try Converter.blocks(in: CacheFolder.path())?.clear()
          count += try indexing.forgetAll()
        } catch { throw Refusal(.failure, "cannot clear the cache: \(describe(error))") }
        let more = searches == 0 ? "" : ", and \(searches) search \(searches == 1 ? "index" : "indexes")"
        print("Forgot \(Amount.of(count, "file"))\(more).")
        return
      }
      let renditions = Converter.cache(in: CacheFolder.path())
      try Refusal.forEach(paths) { path in
        let place = try RealPlace(path)
        let wasKept: Bool
        do throws(Fault) {
          if let name = place.name {
            wasKept = try indexing.forget(name, in: place.root, renditions: renditions)
          } else {
            wasKept = FolderFinder.forget(try RealFolder(root: place.root), in: index)
          }
        } catch {
          throw Refusal(.failure, "cannot forget \(path): \(describe(error))")
        }
        print(wasKept ? "Forgot \(Terminal.shown(path))." : "Nothing was kept for \(Terminal.shown(path)).")
      }
    }
  }
}
