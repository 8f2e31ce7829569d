package import ArgumentParser

extension ParsableCommand {
  /// Runs the whole program `body`. Prints its error to standard error and ends the process with the error's exit
  /// status.
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
