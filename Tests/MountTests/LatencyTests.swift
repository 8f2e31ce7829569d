import TestSupport
import Testing

/// A source of which each answer takes long. What is asserted are requests, which are counted.
@Suite(
  .serialized, .timeLimit(.minutes(5)),
  .enabled(if: MountScratch.isRoot && MountScratch.exists("/dev/fuse"), "needs root and /dev/fuse"))
struct LatencyTests {
  @Test func viewsRequireFewSourceRequests() async throws {
    try await withScratch { scratch in
      let result = try await script("high_latency.py", MountProcess.binary, scratch.path, "5", limit: 90)
      #expect(result.lines.count == 9, "\(result.text)")
    }
  }
}
