import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(5))) struct HarnessTests {
  @Test func childStatusAndOutputAreReturned() async throws {
    let result = try await shell("echo out; echo err >&2; exit 7")
    #expect(result.status == 7)
    #expect(result.text == "out\n")
    #expect(result.errors == "err\n")
  }

  @Test func slowChildIsKilledWithItsChildren() async throws {
    let start = ContinuousClock.now
    await #expect(throws: MountChild.Failure.self) { try await shell("sleep 30 & sleep 30", limit: 0.2) }
    #expect(ContinuousClock.now - start < .seconds(5))
  }

  /// Otherwise their failures would belong to no test, and the test would pass.
  @Test func expectationsOnOtherThreadsCountForTheirTest() async throws {
    let test = try #require(Test.current)
    #expect(await offThread { Test.current } == test)
    try onThreads(3) { _ in #expect(Test.current == test) }
    withKnownIssue { try onThreads(1) { _ in Issue.record("on another thread") } }
  }

  @Test func mountIsRemovedAfterAThrownError() async throws {
    try await withScratch { scratch in
      await #expect(throws: CancellationError.self) {
        try await withMount(scratch) { _ in throw CancellationError() }
      }
      #expect(!MountProcess.isMounted(scratch.mountpoint))
    }
  }
}
