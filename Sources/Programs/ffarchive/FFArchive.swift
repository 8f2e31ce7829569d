internal import Archives
internal import Catalogue
internal import SandboxTrial
internal import WorkerKit

/// The worker program for archives without a parser in the daemon.
@main
enum FFArchive {
  static func main() {
    SandboxTrial.runIfAsked(makeHandlers)
    WorkerRuntime.run("ffarchive", largestFile: Job.largestOutput, makeHandlers)
  }

  /// Loads everything that cannot be loaded once the sandbox is closed.
  static func makeHandlers() -> [any JobHandler] {
    ArchiveLibrary.start()
    return [ArchiveHandler()]
  }
}
