internal import Documents
internal import Glibc
internal import Images
internal import Rendering
internal import Sandbox
internal import SandboxTrial
internal import WorkerKit

/// The worker program that ffmount starts. It converts the files that it receives on a socket, and can do nothing else.
@main
enum FFConvert {
  static func main() {
    SandboxTrial.runIfAsked(reading: folders, makeHandlers)
    WorkerRuntime.run("ffconvert", reading: folders, makeHandlers)
  }

  /// The directories that conversions read from.
  static let folders = Sandbox.sharedFolders

  /// Loads everything that cannot be loaded once the sandbox is closed.
  static func makeHandlers() -> [any JobHandler] {
    if !Vips.start() { fail("libvips cannot be started.") }
    if !ReadDocument.prepare() { fail("The conversion from and to UTF-16 is not available.") }
    return [
      PagesHandler(), TagsHandler(), TextHandler(), ReflowHandler(), CompressionHandler(), MergeHandler(),
      ImageHandler(),
    ]
  }

  private static func fail(_ line: String) -> Never {
    WorkerRuntime.logError(line)
    exit(69)
  }
}
