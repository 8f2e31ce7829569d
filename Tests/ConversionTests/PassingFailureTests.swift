import Bytes
import Catalogue
import Glibc
import Jobs
import Synchronization
import TestSupport
import Testing

extension ConversionTests {
  /// Which failures are permanent, and which are not.
  @Suite(.serialized, .timeLimit(.minutes(5))) struct PassingFailureTests {
    /// `input` determines what a worker does the first time; the second time it would succeed.
    private func tryTwice(_ input: String) async throws -> (first: Fault?, second: Fault?) {
      let faults = Faults()
      try await withWorkshop { options in
        options.timeLimit = .seconds(1)
        options.clockLimit = .seconds(input.contains("hang") ? 1 : 60)
        options.memoryLimit = 64 << 20
      } _: { workshop in
        let text = "once \(workshop.scratch.path)/once \(input)"
        for _ in 0..<2 {
          do { _ = try workshop.make(text, 1) } catch let fault as Fault { faults.add(fault) }
        }
      }
      let all = faults.all
      return (all.first, all.dropFirst().first)
    }

    private final class Faults: Sendable {
      private let faults = Mutex<[Fault]>([])
      func add(_ fault: Fault) { faults.withLock { $0.append(fault) } }
      var all: [Fault] { faults.withLock { $0 } }
    }

    /// A busy machine, a lack of resources, and refusals by the system.
    @Test(arguments: [
      ("hang", "converting it did not end within 1 s, three times -o convert_time"),
      ("exit 69", "the converter ended without an answer (exit status 69)"),
      ("fail 7 no memory", "no memory"),
      ("fail 8 is not converted", "is not converted"),
    ])
    func failureNotCausedByInputIsRetried(_ failure: (input: String, reason: String)) async throws {
      let faults = try await tryTwice(failure.input)
      #expect(faults.first?.reason == failure.reason)
      #expect(faults.second == nil)
    }

    /// What a caller is told, by what the worker says.
    @Test(arguments: [(5, EIO), (7, ENOMEM), (8, EPERM), (9, ENOSPC)])
    func systemErrorIsReportedWithItsErrno(_ failure: (number: Int, errno: Int32)) async throws {
      try await withWorkshop { workshop in
        for _ in 0..<2 {
          let fault = #expect(throws: Fault.self) { try workshop.make("fail \(failure.number) reason", 1) }
          #expect(fault == Fault(.system(failure.errno), "reason"))
          #expect(workshop.renditions.failure(of: .make(.text), inState: 1)?.kind == .system(failure.errno))
        }
      }
    }

    @Test(arguments: [
      "spin", "eat 150", "crash", "exit 3", "garbage", "fail 1 damaged", "fail 2 unknown", "fail 4 large",
    ])
    func failureCausedByInputIsNotRetried(_ input: String) async throws {
      let faults = try await tryTwice(input)
      #expect(faults.first != nil)
      #expect(faults.second == faults.first)
    }

    /// A worker dies with a job in its queue that it has not received yet.
    @Test func jobOfDeadIdleWorkerGoesToAnotherWorker() async throws {
      try await withWorkshop { workshop in
        let process = try #require(pid_t(Workshop.parts(workshop.make("echo", 1)).process))
        kill(process, SIGSTOP)
        _ = usleep(200_000)
        let pending = try workshop.ask("echo", 2).pending
        _ = usleep(200_000)
        kill(process, SIGKILL)
        try workshop.wait(pending)
        #expect(try workshop.ask("echo", 2).made != nil)
        #expect(workshop.renditions.failure(of: .make(.text), inState: 2) == nil)
      }
    }

    @Test func workersThatExitImmediatelyAreReported() async throws {
      try await withWorkshop { options in
        options.program = "/bin/true"
      } _: { workshop in
        let fault = #expect(throws: Fault.self) { try workshop.make("echo", 1) }
        #expect(fault?.reason.hasPrefix("the converter ended") ?? false, "\(fault?.reason ?? "")")
      }
    }

    /// All waiting callers are told, and nobody else.
    @Test func allWaitingCallersReceiveTheFailure() async throws {
      try await withWorkshop { workshop in
        let text = "once \(workshop.scratch.path)/once fail 7 no memory"
        var pendings = try (0..<5).map { _ in try workshop.ask(text, 1).pending }
        try workshop.wait(pendings[0])
        for _ in 0..<5 { #expect(throws: Fault.self) { try workshop.ask(text, 1) } }
        pendings = []
        #expect(try Workshop.parts(workshop.make(text, 1)).text.hasPrefix("text\nonce"))
      }
    }
  }
}
