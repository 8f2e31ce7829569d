internal import CPosix
internal import Conversion
internal import Glibc
internal import JobFiles
internal import Sandbox

/// What the worker programs have in common: shut in a sandbox, each does one job after the other that it is handed on a
/// socket.
public enum Workshop {
  /// Of a process of its own, in bytes; the daemon's limit for one job comes first.
  private static let memory = 4 << 30
  /// What a bench may keep between two jobs, in bytes.
  private static let keptMemory = 256 << 20

  /// Does jobs until nobody has another one. Ends the program when somebody started it by hand.
  ///
  /// - Parameter makeBench: loads what has to be loaded from files; the sandbox is closed behind it.
  public static func run(_ program: String, _ makeBench: () -> some Bench) {
    guard CommandLine.arguments.count == 1, let socket = JobSocket() else {
      complain("\(program) converts files for ffmount, which starts it; it is not run by hand.")
      exit(64)
    }
    var bench = makeBench()
    closeSandbox()
    while let order = socket.next() {
      let outcome: JobAnswer.Outcome
      do throws(JobFailure) { outcome = .done(try bench.perform(order)) } catch {
        outcome = .failed(error.failure, reason: error.reason)
      }
      if ffmount_heap() > keptMemory {
        repeat {} while bench.closeOne() && ffmount_heap() > keptMemory
        ffmount_trim_heap()
      }
      guard socket.send(JobAnswer(number: order.job.number, outcome: outcome)) else { return }
    }
  }

  /// Gives up all that jobs do not need, and says so.
  public static func closeSandbox() {
    let walls = Sandbox.close(memory: memory)
    complain("sandbox: \(walls.isEmpty ? "none" : walls.joined(separator: ", "))")
  }

  /// Writes a line to standard error, which the daemon logs.
  public static func complain(_ line: String) {
    let text = line + "\n"
    _ = unsafe write(STDERR_FILENO, text, text.utf8.count)
  }
}
