package import ArgumentParser

extension ParsableCommand {
  /// Calls `body`, which is all that a program does; what it throws is told on standard error, and ends the process with
  /// its exit status.
  package static func endingProcess(_ body: () throws -> Void) {
    do { try body() } catch let refusal as Refusal {
      Terminal.logError(refusal.sentence)
      exit(withError: ExitCode(refusal.status.rawValue))
    } catch {
      if exitCode(for: error).isSuccess { exit(withError: error) }
      Terminal.logError(message(for: error))
      exit(withError: exitCode(for: error))
    }
  }
}
