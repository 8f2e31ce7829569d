import TestSupport
import Testing

/// What servers need of a mount that they export.
@Suite(
  .serialized, .timeLimit(.minutes(5)),
  .enabled(if: MountScratch.isRoot && MountScratch.exists("/dev/fuse"), "needs root and /dev/fuse"))
struct ExportTests {
  @Test func fileHandlesStayValidForTheMountLifetime() async throws {
    try await withScratch { scratch in
      try scratch.write("plain.txt", "plain")
      try scratch.write("folder/deep/file.txt", "deep")
      try scratch.write("small.zip", ZipFixture(ZipFixtureEntry("inside/inner.txt", "inner")))
      try scratch.write("inbox.mbox", "From a Fri Jan  1 00:00:00 2021\nSubject: one\n\ntext\n")
      let result = try await script(
        "handles.py", MountProcess.binary, scratch.source, scratch.mountpoint, limit: 90)
      #expect(result.lines == ["done"])
    }
  }
}
