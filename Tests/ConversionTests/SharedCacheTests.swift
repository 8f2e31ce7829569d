import Bytes
import Files
import Glibc
import Jobs
import TestSupport
import Testing

extension ConversionTests {
  /// Two services that share a folder, as two servers do: their locks are of different open files, so they hold each other up
  /// as those of two processes do.
  @Suite(.serialized, .timeLimit(.minutes(1))) struct SharedCacheTests {
    private func withTwo(
      _ body: @escaping @Sendable (Workshop, Workshop) throws -> Void
    ) async throws {
      try await withScratch { scratch in
        let outcome = await offThread {
          let (one, other) = (Workshop(in: scratch), Workshop(in: scratch))
          defer {
            one.renditions.stop()
            other.renditions.stop()
          }
          return Result { try body(one, other) }
        }
        try outcome.get()
      }
    }

    @Test func resultIsMadeOnceForAllWhoAskAtATime() async throws {
      try await withTwo { one, other in
        // The folder and its key are there.
        _ = try one.make("echo", 9)
        let first = try one.ask("slow 1", 1)
        _ = usleep(300_000)
        let second = try other.ask("slow 1", 1)
        #expect(first.made == nil && second.made == nil)
        try one.wait(first.pending)
        try other.wait(second.pending)
        let (made, same) = try (Workshop.parts(one.make("slow 1", 1)), Workshop.parts(other.make("slow 1", 1)))
        #expect(made.process == same.process && made.text == same.text)
      }
    }

    /// A file that has a name only for the time being, as where no file can be without one.
    @Test func fileWithAPassingNameIsLinkedOnce() async throws {
      try await withScratch { scratch in
        let one = try TemporaryFile(in: scratch.path, named: "new.")
        let other = try TemporaryFile(in: scratch.path, named: "new.")
        try one.link(as: scratch.path + "/whole")
        #expect(throws: Fault(.system(EEXIST), "linkat")) { try other.link(as: scratch.path + "/whole") }
        #expect(unsafe access(scratch.path + "/whole", F_OK) == 0)
      }
    }
  }
}
