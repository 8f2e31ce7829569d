internal import CPosix
public import Catalogue
internal import Glibc
public import Sandbox

/// The common part of all worker programs, which receive jobs on a socket and carry them out in a sandbox.
public enum WorkerRuntime {
  /// The limit of the process's own memory, in bytes. The daemon's limit for one job is smaller.
  private static let memory = 4 << 30
  /// The maximum amount of memory that handlers may keep between two jobs, in bytes.
  private static let keptMemory = 256 << 20

  /// Carries out jobs until the socket is closed. Exits if a user started the program. Prints the verbs of its handlers
  /// if the argument is `--verbs`.
  ///
  /// - Parameters:
  ///   - places: the directories that jobs read and write in addition to their files.
  ///   - largestFile: the maximum number of bytes that a job may write.
  ///   - makeHandlers: loads everything that has to be loaded from files. The sandbox closes afterwards.
  public static func run(
    _ program: String, reading places: Sandbox.Places = [], largestFile: Int64 = Job.usualOutput,
    _ makeHandlers: () -> [any JobHandler]
  ) {
    let words = Array(CommandLine.arguments.dropFirst())
    if words == ["--verbs"] { return print(JobHandlers(makeHandlers()).verbs.joined(separator: "\n")) }
    guard words.isEmpty || words == [Job.weakSandbox], let socket = JobSocket() else {
      logError("\(program) converts files for ffmount, which starts it. It cannot be run by hand.")
      exit(64)
    }
    var handlers = JobHandlers(makeHandlers())
    if let gap = closeSandbox(reading: places, largestFile: largestFile).gap, words.isEmpty {
      logError("\(program): nothing is converted, since there is \(gap) here for its sandbox (see -o sandbox=weak)")
      return refuseJobs(of: socket, gap)
    }
    doJobs(of: socket, &handlers)
    // Skips the exit handlers of libraries. None of their state outlives the process.
    if handlers.isSpent { _exit(0) }
  }

  private static func doJobs(of socket: JobSocket, _ handlers: inout JobHandlers) {
    let ownDescriptors = OpenDescriptors.count()
    while let answer = doJob(of: socket, &handlers) {
      var keepsTooMuch = hasKeptTooMuch
      if keepsTooMuch {
        while keepsTooMuch, handlers.closeOne() { keepsTooMuch = hasKeptTooMuch }
        ffmount_trim_heap()
      }
      // Each open document has one descriptor. Any others were left behind by a job and end the process.
      let isSpent =
        keepsTooMuch || handlers.isSpent || OpenDescriptors.count() > ownDescriptors + handlers.openDocuments
      if isSpent { socket.close() }
      guard JobSocket.send(answer), !isSpent else { return }
    }
  }

  /// Whether the heap is larger than may be kept. The heap is walked only if the process was ever that large.
  private static var hasKeptTooMuch: Bool {
    var usage = rusage()
    guard unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0, usage.ru_maxrss < keptMemory >> 10 else {
      return ffmount_heap() > keptMemory
    }
    return false
  }

  /// Does one job and closes its files. Returns `nil` if there are no more jobs.
  private static func doJob(of socket: JobSocket, _ handlers: inout JobHandlers) -> JobAnswer? {
    guard let order = socket.next() else { return nil }
    let outcome: JobAnswer.Outcome
    do throws(JobFailure) { outcome = try handlers.perform(order) } catch {
      let failure = error.settled(order.output)
      outcome = .failed(failure.failure, reason: failure.reason)
    }
    return JobAnswer(number: order.job.number, outcome: outcome)
  }

  /// Refuses every job without reading its file.
  private static func refuseJobs(of socket: JobSocket, _ gap: String) {
    let reason = "is not converted, since there is \(gap) here for the sandbox (-o sandbox=weak does without)"
    while let order = socket.next() {
      let answer = JobAnswer(number: order.job.number, outcome: .failed(.unprotected, reason: reason))
      guard JobSocket.send(answer) else { return }
    }
  }

  /// Closes the sandbox and logs its layers.
  public static func closeSandbox(
    reading places: Sandbox.Places, largestFile: Int64 = Job.usualOutput,
    walls: Set<SandboxLayer> = Set(SandboxLayer.allCases)
  ) -> Enclosure {
    let needs = Sandbox.Needs(places, memory: memory, largestFile: Int(largestFile))
    let enclosure = Sandbox.close(needs, walls: walls)
    if let scratch = enclosure.scratch {
      ScratchFile.set(scratch.descriptor, path: scratch.path, room: Sandbox.scratchRoom)
    }
    if let workplace = enclosure.workplace { Workplace.set(workplace) }
    logError("sandbox: \(enclosure.walls.isEmpty ? "none" : enclosure.walls.joined(separator: ", "))")
    return enclosure
  }

  /// Writes a line to standard error, which the daemon logs.
  public static func logError(_ line: String) {
    let text = line + "\n"
    _ = unsafe write(STDERR_FILENO, text, text.utf8.count)
  }
}
