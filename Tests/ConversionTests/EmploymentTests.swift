import Bytes
import Catalogue
import Glibc
import Jobs
import Synchronization
import TestSupport
import Testing

extension ConversionTests {
  /// The owners that a worker serves, and its lifetime.
  @Suite(.serialized, .timeLimit(.minutes(5))) struct EmploymentTests {
    private func process(_ made: ConversionResult) throws -> Substring { try Workshop.parts(made).process }

    // MARK: Retirement

    @Test func workerIsReplacedAfterManyJobs() async throws {
      try await withWorkshop { options in
        options.jobsOfOne = 3
      } _: { workshop in
        let processes = try (1...9).map { try process(workshop.make("echo", $0)) }
        #expect(Set(processes).count == 3)
        #expect(processes[0] == processes[2] && processes[3] == processes[5] && processes[2] != processes[3])
      }
    }

    /// A worker is replaced after failures that may be its own, but not after those of a file.
    @Test(arguments: [
      ("fail 5 too many open files", false), ("fail 7 no memory", false), ("fail 1 expected a header", true),
    ])
    func workerIsReplacedAfterItsOwnFailure(_ failure: (input: String, isKept: Bool)) async throws {
      try await withWorkshop { workshop in
        let before = try process(workshop.make("echo", 1))
        #expect(throws: Fault.self) { try workshop.make(failure.input, 2) }
        let after = try process(workshop.make("echo", 3))
        #expect((after == before) == failure.isKept)
      }
    }

    /// A worker that finds it retains memory refuses further jobs; its exit may take a while.
    @Test func workerCanRefuseFurtherJobs() async throws {
      try await withWorkshop { workshop in
        let first = try process(workshop.make("last", 1))
        let second = try process(workshop.make("echo", 2))
        #expect(first != second)
        #expect(try process(workshop.make("echo", 3)) == second)
      }
    }

    // MARK: Owners

    @Test func workerServesOneOwner() async throws {
      try await withWorkshop { workshop in
        let owners: [UInt32?] = [1000, 1000, 1001, 1001, nil, nil, 1000]
        let processes = try owners.enumerated().map {
          try process(workshop.make("echo", UInt64($0.offset) + 1, owner: $0.element))
        }
        #expect(processes[0] == processes[1] && processes[2] == processes[3])
        // A conversion of several owners' files gets a worker of its own.
        let others = [processes[0], processes[2], processes[4], processes[5], processes[6]]
        #expect(Set(others).count == others.count)
      }
    }

    /// The order in which jobs are done that were queued while a worker was busy.
    private func order(_ jobs: [(document: UInt64, page: Int, owner: UInt32)]) async throws -> [Int] {
      let order = Mutex<[Int]>([])
      try await withWorkshop { workshop in
        // All are queued before the first is done, which includes starting a worker.
        let held = try workshop.ask("slow 0.1", 1, .pages(PageSelection(page: 9999)), owner: 1).pending
        let pendings = try jobs.enumerated().map { index, job in
          let recipe = Recipe.pages(PageSelection(page: job.page))
          let pending = try workshop.ask("slow 0.1", job.document, recipe, owner: job.owner).pending
          _ = pending?.whenDone { order.withLock { $0.append(index) } }
          return pending
        }
        try withExtendedLifetime(held) { for pending in pendings { try workshop.wait(pending) } }
      }
      return order.withLock { $0 }
    }

    @Test func overtakingOfQueuedJobsIsLimited() async throws {
      // One job on another document, and thirty on the open one.
      let order = try await order([(2, 1, 1)] + (1...30).map { (1, $0, 1) })
      #expect(order.firstIndex(of: 0) == 16)
      #expect(order.filter { $0 != 0 } == Array(1...30))
    }

    @Test func ownersTakeTurns() async throws {
      let few = try await order((1...6).map { (UInt64($0) + 1, 1, $0.isMultiple(of: 2) ? 1 : 2) })
      // The owner that the worker has served comes first, so that it is restarted once and not six times …
      #expect(few == [1, 3, 5, 0, 2, 4])
      // … but not indefinitely.
      let many = try await order([(2, 1, 2)] + (1...30).map { (UInt64($0) + 2, 1, 1) })
      #expect(many.firstIndex(of: 0) == 16)
    }

    // MARK: Input of a worker

    @Test func workerInputIsReadOnly() async throws {
      try await withWorkshop { workshop in
        // Input that is not a range of a file is passed as a copy written by the daemon.
        let made = try Workshop.parts(workshop.make("state", 1))
        #expect(made.text == "text\nstate\n\(O_RDONLY) ")
      }
    }

    /// What the user's environment contains may be secret.
    @Test func workersDoNotInheritTheEnvironment() async throws {
      try await withWorkshop { workshop in
        let names = try Workshop.parts(workshop.make("variables", 1)).text.split(separator: "\n").last ?? ""
        let permitted: Set<Substring> = [
          "ASAN_OPTIONS", "FFMOUNT_SLIP", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "OMP_NUM_THREADS",
          "OMP_THREAD_LIMIT",
          "SWIFT_BACKTRACE", "TESSDATA_PREFIX", "TMPDIR", "TSAN_OPTIONS", "TZ",
        ]
        #expect(names.contains("LC_ALL") && permitted.isSuperset(of: names.split(separator: " ")), "\(names)")
      }
    }

    @Test func weakSandboxIsReportedToWorker() async throws {
      try await withWorkshop { options in
        options.isSandboxWeak = true
      } _: { workshop in
        let made = try Workshop.parts(workshop.make("state", 1))
        #expect(made.text == "text\nstate\n\(O_RDONLY) --sandbox=weak")
      }
    }

    @Test func workerOutputSizeIsLimited() async throws {
      try await withScratch { scratch in
        let outcome = await offThread {
          // Without a folder for results they are kept in memory, with a smaller limit.
          let workshop = Workshop(cacheSize: nil, spools: scratch.path + "/nowhere", in: scratch)
          let fault = #expect(throws: Fault.self) { try workshop.make("flood 100", 1) }
          #expect(fault?.kind == .system(ENOSPC))
          return Result { try workshop.stop() }
        }
        try outcome.get()
      }
    }
  }
}
