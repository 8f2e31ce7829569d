import Bytes
import Catalogue
import Glibc
import Jobs
import Synchronization
import TestSupport
import Testing

extension ConversionTests {
  /// The outcomes of a job, with a worker controlled by its input.
  @Suite(.serialized, .timeLimit(.minutes(5))) struct PoolTests {
    @Test func conversionResultIsServedAndCached() async throws {
      try await withWorkshop { workshop in
        let first = try Workshop.parts(workshop.make("echo\nhello", 1))
        #expect(first.text == "text\necho\nhello")
        // Not retained: it comes from the cache, also in the next mount.
        #expect(try workshop.ask("echo\nhello", 1).made != nil)
        let next = Workshop(in: workshop.scratch)
        defer { next.renditions.stop() }
        #expect(try next.ask("echo\nhello", 1).made.map { try Workshop.parts($0).process } == first.process)
        #expect(next.notes.value(of: .make(.text), inState: 1) == workshop.notes.value(of: .make(.text), inState: 1))
        #expect(workshop.lines == ["fake sandbox in force"])
      }
    }

    /// Failing jobs and the reported reasons.
    static let failures: [(input: String, reason: String)] = [
      ("crash", "the converter crashed (SIGSEGV)"), ("exit 3", "the converter ended without an answer (exit status 3)"),
      ("garbage", "the converter sent an invalid answer"),
      ("long", "the converter sent an invalid answer"),
      ("other", "the converter sent an invalid answer"),
      ("lie", "the converter sent an invalid answer"),
      ("close", "the converter sent an invalid answer"),
      ("spin", "converting it took longer than 1 s (-o convert_time)"),
      ("eat 150", "converting it took more than 64 MiB of memory (-o convert_memory)"),
      ("fail 1 expected a cross-reference table", "expected a cross-reference table"), ("", "it is empty"),
    ]

    @Test(arguments: failures) func failureAffectsOnlyItsOwnJob(_ failure: (input: String, reason: String)) async throws
    {
      try await withWorkshop { options in
        options.timeLimit = .seconds(failure.input == "spin" ? 1 : 20)
        options.memoryLimit = 64 << 20
      } _: { workshop in
        let fault = #expect(throws: Fault.self) { try workshop.make(failure.input, 1) }
        // Where others use the processors it may have none to itself.
        if failure.input == "spin", fault?.reason == "converting it did not end within 3 s, three times -o convert_time"
        {
          return
        }
        #expect(fault?.reason == failure.reason)
        #expect(workshop.renditions.failure(of: .make(.text), inState: 1)?.reason == failure.reason)
        // The next job is done, by a new worker if necessary; the failed one is not retried.
        let process = try Workshop.parts(workshop.make("echo", 2)).process
        #expect(throws: Fault.self) { try workshop.make(failure.input, 1) }
        #expect(try Workshop.parts(workshop.make("echo", 3)).process == process)
      }
    }

    @Test func killedWorkerIsReplacedAndItsJobCanBeRetried() async throws {
      try await withWorkshop { workshop in
        let process = try Workshop.parts(workshop.make("echo", 1)).process
        func killed() throws -> Fault? {
          let pending = try workshop.ask("slow 1", 2).pending
          _ = usleep(300_000)
          kill(try #require(pid_t(process)), SIGKILL)
          return try withExtendedLifetime(pending) {
            try workshop.wait(pending)
            return #expect(throws: Fault.self) { try workshop.ask("slow 1", 2) }
          }
        }
        let fault = try killed()
        #expect(fault?.reason == "the converter was killed (SIGKILL)")
        // The next open retries it at once.
        #expect(try Workshop.parts(workshop.make("slow 1", 2)).text == "text\nslow 1")
        // The reason of the failure is no longer reported.
        #expect(workshop.renditions.failure(of: .make(.text), inState: 2) == nil)
        // A worker killed while idle has no effect on jobs.
        let other = try Workshop.parts(workshop.make("echo", 3)).process
        kill(try #require(pid_t(other)), SIGKILL)
        _ = usleep(100_000)
        _ = try workshop.make("echo", 4)
      }
    }

    @Test func missingConverterIsReported() async throws {
      try await withWorkshop { options in
        options.program = "/nowhere/ffconvert"
      } _: { workshop in
        let fault = #expect(throws: Fault.self) { try workshop.make("echo", 1) }
        #expect(fault?.reason.hasPrefix("the converter could not be started") ?? false)
      }
    }

    @Test func readersOfOneFileShareItsJob() async throws {
      try await withWorkshop(cacheSize: nil) { workshop in
        let pendings = try (0..<20).map { _ in try workshop.ask("slow 0.3", 1).pending }
        #expect(Set(pendings.map { $0.map { ObjectIdentifier($0) } }).count == 1)
        // A cancelled wait does not affect the others.
        let told = Atomic(0)
        let tokens = pendings.map { $0?.whenDone { told.add(1, ordering: .relaxed) } }
        pendings[0]?.cancel(try #require(tokens[0]))
        try workshop.wait(pendings[1])
        #expect(try workshop.ask("slow 0.3", 1).made != nil)
        #expect(told.load(ordering: .relaxed) == 19)
      }
    }

    @Test func jobWithoutWaitersIsCancelled() async throws {
      try await withWorkshop { workshop in
        let running = try #require(try workshop.ask("hang", 1).pending)
        let queued = try #require(try workshop.ask("hang", 2).pending)
        let tokens = [running.whenDone {}, queued.whenDone {}]
        _ = usleep(200_000)
        let start = ContinuousClock.now
        queued.cancel(tokens[1])
        running.cancel(tokens[0])
        _ = try workshop.make("echo", 3)
        #expect(ContinuousClock.now - start < .seconds(5))
        // A job that nobody waited for is not a failure of the file.
        #expect(workshop.renditions.failure(of: .make(.text), inState: 1) == nil)
        #expect(try workshop.ask("hang", 1).pending != nil)
      }
    }

    @Test func jobsOnTheOpenDocumentComeFirst() async throws {
      try await withWorkshop { workshop in
        let order = Mutex<[Int]>([])
        let asked: [(UInt64, String)] = [(1, "1"), (2, "1"), (1, "2"), (2, "2"), (1, "3")]
        let pendings = try asked.enumerated().map { index, job in
          let pending = try workshop.ask("slow 0.1", job.0, .pages(try #require(PageSelection(job.1[...])))).pending
          _ = pending?.whenDone { order.withLock { $0.append(index) } }
          return pending
        }
        for pending in pendings { try workshop.wait(pending) }
        #expect(order.withLock { $0 } == [0, 2, 4, 1, 3])
      }
    }

    @Test func conversionWorksOnFullDisk() async throws {
      try await withWorkshop { workshop in
        let made = try workshop.make("full", 1)
        #expect(try Workshop.parts(made).text == "text\nfull")
        #expect(DiskCache(folder: workshop.cacheFolder, maximumSize: 1).contents.count == 0)
      }
    }

    @Test func stopEndsAllJobs() async throws {
      try await withWorkshop { options in
        options.workers = 3
      } _: { workshop in
        let pendings = try (0..<10).map { try workshop.ask("hang", $0 + 1).pending }
        _ = usleep(200_000)
        let start = ContinuousClock.now
        workshop.renditions.stop()
        for pending in pendings { try workshop.wait(pending) }
        #expect(ContinuousClock.now - start < .seconds(5))
      }
    }

    @Test func idleWorkersEnd() async throws {
      try await withWorkshop { options in
        options.idleTime = .milliseconds(200)
      } _: { workshop in
        let before = children()
        let process = try Workshop.parts(workshop.make("echo", 1)).process
        for _ in 0..<200 where children() > before { _ = usleep(20_000) }
        #expect(children() == before)
        #expect(try Workshop.parts(workshop.make("echo", 2)).process != process)
      }
    }

    @Test func thousandsOfConcurrentJobsComplete() async throws {
      let count = TestExtent.isFull ? 10_000 : 2000
      try await withWorkshop { options in
        options.workers = 2
      } _: { workshop in
        let told = Atomic(0)
        let descriptors = try openDescriptors()
        for revision in 1...count {
          let pending = try workshop.ask("echo", UInt64(revision)).pending
          _ = pending?.whenDone { told.add(1, ordering: .relaxed) }
          if pending == nil { told.add(1, ordering: .relaxed) }
        }
        #expect(try openDescriptors() < descriptors + 100)
        while told.load(ordering: .relaxed) < count { _ = usleep(10_000) }
        #expect(DiskCache(folder: workshop.cacheFolder, maximumSize: 1).contents.count == count)
      }
    }

    @Test func pagesOfADocumentAreCounted() async throws {
      try await withWorkshop { workshop in
        func count(_ text: String, _ revision: UInt64) throws -> Int64 {
          while true {
            do throws(Fault) {
              return try workshop.renditions.count("pages", of: Workshop.subject(text, revision), .blocking)
            } catch {
              guard case .pending(let pending) = error.kind else { throw error }
              try workshop.wait(pending)
            }
          }
        }
        let twelve = try count("pages 12", 1)
        #expect(twelve == 12)
        #expect(throws: Fault(.damaged, "expected a PDF")) { try count("echo", 2) }
        #expect(throws: Fault.self) { try count("pages 99999999999", 3) }
      }
    }
  }
}

private func openDescriptors() throws -> Int {
  var count = 0
  guard let folder = unsafe opendir("/proc/self/fd") else { return 0 }
  defer { unsafe closedir(folder) }
  while unsafe readdir(folder) != nil { count += 1 }
  return count
}
