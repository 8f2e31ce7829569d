import TestSupport
import Testing

@Suite struct BackgroundTests {
  /// A lock of Swift's runtime contains the number of the thread that holds it, which a fork changes.
  @Test func threadsOfABackgroundProcessShareLocks() async throws {
    let result = try await run(MountProcess.program("backgroundtrial"), limit: 20)
    #expect(result.lines.last == "ready", "\(result.errors)")
  }
}
