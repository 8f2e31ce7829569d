internal import Catalogue
internal import Disks
internal import SandboxTrial
internal import WorkerKit

/// The worker program for disk images and encrypted archives.
@main
enum FFDisk {
  static func main() {
    SandboxTrial.runIfAsked(makeHandlers)
    WorkerRuntime.run("ffdisk", largestFile: Job.largestOutput, makeHandlers)
  }

  /// Loads everything that cannot be loaded once the sandbox is closed.
  static func makeHandlers() -> [any JobHandler] {
    DiskLibrary.start()
    return [DiskHandler()]
  }
}
