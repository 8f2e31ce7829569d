internal import CPosix
internal import Conversion
internal import Glibc
internal import JobFiles
public import Sandbox

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
  public static func run<Place: Bench>(_ program: String, _ makeBench: () -> Place) {
    let words = Array(CommandLine.arguments.dropFirst())
    guard words.isEmpty || words == [WorkerProgram.weakness], let socket = JobSocket() else {
      complain("\(program) converts files for ffmount, which starts it; it is not run by hand.")
      exit(64)
    }
    var bench = makeBench()
    if let gap = closeSandbox(reading: Place.folders).gap, words.isEmpty {
      complain("\(program): nothing is converted, since there is \(gap) here to shut it in (see -o sandbox=weak)")
      return refuseJobs(of: socket, gap)
    }
    doJobs(of: socket, &bench)
  }

  private static func doJobs(of socket: JobSocket, _ bench: inout some Bench) {
    let ownDescriptors = OpenDescriptors.count()
    while let answer = doJob(of: socket, &bench) {
      var keepsTooMuch = hasKeptTooMuch
      if keepsTooMuch {
        while keepsTooMuch, bench.closeOne() { keepsTooMuch = hasKeptTooMuch }
        ffmount_trim_heap()
      }
      // Each open document has one. What else a job has left behind, the next one is not to meet.
      let isSpent = keepsTooMuch || OpenDescriptors.count() > ownDescriptors + bench.openDocuments
      if isSpent { socket.close() }
      guard socket.send(answer), !isSpent else { return }
    }
  }

  /// Whether the heap holds more than may be kept. The heap is walked only if the process was ever that large.
  private static var hasKeptTooMuch: Bool {
    var usage = rusage()
    guard unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0, usage.ru_maxrss < keptMemory >> 10 else {
      return ffmount_heap() > keptMemory
    }
    return false
  }

  /// Does one job; its files are closed when this returns. nil when there is none any more.
  private static func doJob(of socket: JobSocket, _ bench: inout some Bench) -> JobAnswer? {
    guard let order = socket.next() else { return nil }
    let outcome: JobAnswer.Outcome
    do throws(JobFailure) { outcome = try bench.perform(order) } catch {
      outcome = .failed(error.failure, reason: error.reason)
    }
    return JobAnswer(number: order.job.number, outcome: outcome)
  }

  /// Answers every job that it is not done, and looks at no file.
  private static func refuseJobs(of socket: JobSocket, _ gap: String) {
    let reason = "is not converted, since there is \(gap) here to shut the converter in (-o sandbox=weak does without)"
    while let order = socket.next() {
      let answer = JobAnswer(number: order.job.number, outcome: .failed(.unprotected, reason: reason))
      guard socket.send(answer) else { return }
    }
  }

  /// Gives up all that jobs do not need, and says so.
  public static func closeSandbox(
    reading folders: [String], walls: Set<Wall> = Set(Wall.allCases)
  ) -> Enclosure {
    let needs = Sandbox.Needs(folders: folders, memory: memory, largestFile: Int(Job.largestOutput))
    let enclosure = Sandbox.close(needs, walls: walls)
    if let scratch = enclosure.scratch {
      ScratchFile.set(scratch.descriptor, path: scratch.path, room: Sandbox.scratchRoom)
    }
    complain("sandbox: \(enclosure.walls.isEmpty ? "none" : enclosure.walls.joined(separator: ", "))")
    return enclosure
  }

  /// Writes a line to standard error, which the daemon logs.
  public static func complain(_ line: String) {
    let text = line + "\n"
    _ = unsafe write(STDERR_FILENO, text, text.utf8.count)
  }
}
