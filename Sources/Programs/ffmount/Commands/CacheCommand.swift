import ArgumentParser
import Assembly
import Bytes
import FileTrees
import Files
import Glibc
import Index
import Jobs
import MailViews
import Tree

/// `ffmount cache clear [PATH…]`: removes cached data.
struct CacheCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache", abstract: "Manages the indexes and converted files that are kept.",
    usage: "ffmount cache clear [PATH…]", subcommands: [Clear.self])

  struct Clear: ParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "clear", abstract: "Removes the indexes and converted files of some files, or of all.",
      usage: "ffmount cache clear [PATH…]")

    @Argument(help: "The files to forget; all if none is given.", completion: .file())
    var paths: [String] = []

    func run() throws {
      try RunningMount.expectAnswers(onTheWayTo: paths, toDo: "forget")
      let index = try IndexFolder.index()
      defer { index.finish(within: .seconds(10)) }
      let indexing = Indexing(index: index)
      if paths.isEmpty {
        let count: Int
        do throws(Fault) {
          count = try indexing.forgetAll() + (Converter.cache(in: CacheFolder.path())?.clear() ?? 0)
        } catch { throw Refusal(.failure, "cannot clear the cache: \(describe(error))") }
        print("Forgot \(count) \(count == 1 ? "file" : "files").")
        return
      }
      let renditions = Converter.cache(in: CacheFolder.path())
      for path in paths {
        let place = try RealPlace(path)
        guard let name = place.name else {
          throw Refusal(.usage, "cannot forget \(path): not a file (give the files to forget)")
        }
        let wasKept: Bool
        do throws(Fault) { wasKept = try indexing.forget(name, in: place.root, renditions: renditions) } catch {
          throw Refusal(.failure, "cannot forget \(path): \(describe(error))")
        }
        print(wasKept ? "Forgot \(Terminal.shown(path))." : "Nothing was kept for \(Terminal.shown(path)).")
      }
    }
  }
}
