internal import Glibc
internal import Images
internal import Recognition
internal import Rendering
internal import Sandbox
internal import SandboxTrial
internal import WorkerKit

/// The worker program for scans, which recognizes text and makes clean pages from photos.
@main
enum FFScan {
  static func main() {
    SandboxTrial.runIfAsked(reading: Sandbox.sharedFolders, makeHandlers)
    WorkerRuntime.run("ffscan", reading: Sandbox.sharedFolders, makeHandlers)
  }

  /// Loads everything that cannot be loaded once the sandbox is closed.
  static func makeHandlers() -> [any JobHandler] {
    if !Vips.start() || !ReadDocument.prepare() {
      WorkerRuntime.logError("ffscan: libvips or poppler cannot be started.")
      exit(69)
    }
    let recognizer = Recognizer()
    return [
      ReadingHandler(recognizer), PageHandler(recognizer), SearchableHandler(recognizer), ScanHandler(recognizer),
      DocumentScanHandler(recognizer),
    ]
  }
}
