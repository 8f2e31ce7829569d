import Bytes
import Files
import Foundation
import Glibc
import Jobs
import TestSupport
import Testing

extension ConversionTests {
  /// Two services that share a folder, as two servers do: their locks are of different open files, so they hold each other up
  /// as those of two processes do.
  @Suite(.serialized, .timeLimit(.minutes(5))) struct SharedCacheTests {
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

    @Test func concurrentMountsShareOneConversion() async throws {
      try await withTwo { one, other in
        // Each has its worker by now, and the folder its key.
        let process = try Workshop.parts(one.make("echo", 9)).process
        _ = try other.make("echo other", 8)
        // The second time, it would be done at once, before the first is.
        let begun = one.scratch.path + "/begun"
        let text = "once \(begun) slow 1"
        let first = try one.ask(text, 1)
        for _ in 0..<1000 where unsafe access(begun, F_OK) != 0 { _ = usleep(5000) }
        let second = try other.ask(text, 1)
        #expect(first.made == nil && second.made == nil)
        try one.wait(first.pending)
        try other.wait(second.pending)
        let (made, same) = try (Workshop.parts(one.make(text, 1)), Workshop.parts(other.make(text, 1)))
        #expect(made.process == process && same.process == process)
      }
    }

    /// The one worker that another mount's work would hold up is free for other results.
    @Test func waitingForAnotherMountBlocksNoOtherJob() async throws {
      try await withTwo { one, other in
        _ = try one.make("echo", 9)
        _ = try other.make("echo other", 8)
        let (begun, gate) = (one.scratch.path + "/begun", one.scratch.path + "/gate")
        let text = "once \(begun) gate \(gate)\nbody"
        let first = try one.ask(text, 1)
        for _ in 0..<1000 where unsafe access(begun, F_OK) != 0 { _ = usleep(5000) }
        let second = try other.ask(text, 1)
        #expect(first.made == nil && second.made == nil)
        _ = try other.make("echo more", 7)
        #expect(try one.ask(text, 1).made == nil && other.ask(text, 1).made == nil)
        close(unsafe open(gate, O_CREAT | O_WRONLY, 0o600))
        try one.wait(first.pending)
        try other.wait(second.pending)
        for made in try [one.make(text, 1), other.make(text, 1)] {
          #expect(try made.bytes(at: 0, count: 4) == Array("body".utf8))
        }
      }
    }

    /// A caller that gives up, and a service that stops, do not wait for the other mount.
    @Test(arguments: [true, false]) func waitingForAnotherMountIsCancellable(byCaller: Bool) async throws {
      try await withTwo { one, other in
        _ = try one.make("echo", 9)
        _ = try other.make("echo other", 8)
        let begun = one.scratch.path + "/begun"
        let text = "once \(begun) hang"
        let first = try one.ask(text, 1)
        for _ in 0..<1000 where unsafe access(begun, F_OK) != 0 { _ = usleep(5000) }
        let second = try #require(try other.ask(text, 1).pending)
        if byCaller {
          let token = second.whenDone {}
          _ = try other.make("echo more", 7)
          second.cancel(token)
        } else {
          try other.stop()
        }
        try other.wait(second)
        try one.stop()
        try one.wait(first.pending)
      }
    }

    /// A file that has a name only for the time being, as where no file can be without one.
    @Test func namedTemporaryFileIsLinkedOnce() async throws {
      try await withScratch { scratch in
        let one = try TemporaryFile(in: scratch.path, named: "new.")
        let other = try TemporaryFile(in: scratch.path, named: "new.")
        try one.link(as: scratch.path + "/whole")
        #expect(throws: Fault(.system(EEXIST), "linkat")) { try other.link(as: scratch.path + "/whole") }
        #expect(unsafe access(scratch.path + "/whole", F_OK) == 0)
      }
    }

    /// A file system without nameless files.
    @Test(.enabled("needs /dev/fuse") { MountScratch.exists("/dev/fuse") })
    func passingNameEndsWithTheFile() async throws {
      try await withScratch { scratch in
        try await withMount(scratch, options: ["-o", "rw"]) { mount in
          func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: scratch.source) }
          do {
            let file = try TemporaryFile(in: mount.mountpoint, named: "new.")
            #expect(try names().count == 1 && names()[0].hasPrefix("new."))
            withExtendedLifetime(file) {}
          }
          #expect(try names() == [])
          do { try TemporaryFile(in: mount.mountpoint, named: "new.").link(as: mount.mountpoint + "/whole") }
          #expect(try names() == ["whole"])
        }
      }
    }
  }
}
