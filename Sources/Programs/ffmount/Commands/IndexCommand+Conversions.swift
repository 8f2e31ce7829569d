import Assembly
import Bytes
import Glibc
import Index
import Synchronization
import Tree

extension IndexCommand {
  /// Makes the conversions that a mount of a directory would list. Returns the number of failures.
  func convert(_ path: String, _ index: Index) throws -> Int {
    let place = try RealPlace(path)
    guard place.name == nil else {
      throw Refusal(.usage, "cannot make the conversions of \(path): not a folder (give the folder it is in)")
    }
    let tree: Tree
    do { tree = try place.tree(index) } catch let refusal as Refusal {
      throw Refusal(refusal.status, "cannot make the conversions of \(path): \(refusal.sentence)")
    }
    defer { tree.stop() }
    let work = ConvertingAhead(tree)
    do throws(Fault) {
      return try make(path, work, ProgressLine(path, size: Int64(work.count())))
    } catch { throw Refusal(.failure, "cannot make the conversions of \(path): \(describe(error))") }
  }

  private func make(_ path: String, _ work: ConvertingAhead, _ line: ProgressLine) throws(Fault) -> Int {
    let progress = Mutex((done: 0, failed: 0, line: line))
    try work.forEach(atATime: max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))) { file, fault in
      progress.withLock { progress in
        progress.done += 1
        progress.line.show(files: progress.done)
        guard let fault else { return }
        progress.failed += 1
        progress.line.clear()
        Terminal.logError("cannot convert \(path)/\(file.path): \(describe(fault))")
      }
    }
    return progress.withLock { progress in
      progress.line.finish(files: progress.done - progress.failed)
      return progress.failed
    }
  }
}
