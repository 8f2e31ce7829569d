internal import Glibc
public import Sandbox
public import WorkerKit

/// What a worker program does to show that its sandbox holds.
public enum SandboxTrial {
  /// Ends the process with the result if its arguments ask for a trial, `--check-sandbox`; call it first in `main`.
  ///
  /// - Parameters:
  ///   - places: as for `WorkerRuntime.run`.
  ///   - makeHandlers: the same.
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
