internal import Catalogue
internal import Office
internal import SandboxTrial
internal import WorkerKit

/// The worker program for the text and the sheets of office documents, and for Outlook's mail stores.
@main
enum FFOffice {
  static func main() {
    SandboxTrial.runIfAsked(makeHandlers)
    WorkerRuntime.run("ffoffice", largestFile: Job.largestOutput, makeHandlers)
  }

  /// Loads everything that cannot be loaded once the sandbox is closed.
  static func makeHandlers() -> [any JobHandler] { [OfficeHandler(), StoreHandler()] }
}
