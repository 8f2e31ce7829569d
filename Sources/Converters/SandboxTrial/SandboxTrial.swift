internal import Glibc
public import Sandbox
public import WorkerKit

/// The self-test by which a worker program shows that its sandbox is effective.
public enum SandboxTrial {
  /// Runs a trial and ends the process with its result if the arguments request one (`--check-sandbox`). To be called
  /// first in `main`.
  ///
  /// - Parameters:
  ///   - places: as for `WorkerRuntime.run`.
  ///   - makeHandlers: as for `WorkerRuntime.run`.
  public static func runIfAsked(reading places: Sandbox.Places = [], _ makeHandlers: () -> [any JobHandler]) {
    let words = CommandLine.arguments.dropFirst()
    switch words.first {
    case SandboxCheck.argument: exit(SandboxCheck.run(words.dropFirst()))
    case Escapes.argument:
      let walls = Set(words.dropFirst().compactMap { SandboxLayer(rawValue: $0) })
      exit(
        Escapes.run {
          _ = makeHandlers()
          _ = WorkerRuntime.closeSandbox(reading: places, walls: walls)
        })
    default: return
    }
  }
}
