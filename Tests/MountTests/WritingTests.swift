import TestSupport
import Testing

/// What changes through a mount with `-o rw`.
@Suite(.serialized, .timeLimit(.minutes(5))) struct WritingTests {
  /// Each does the same in the mount and in a bare folder: `written.py`.
  static let works = ["files", "names", "opened", "links", "ranges", "locks", "views", "ways_out", "programs"]

  @Test(arguments: works) func theMountDoesWhatABareFolderDoes(_ work: String) async throws {
    try await withScratch { scratch in
      try await withMount(scratch, options: ["-o", "rw"]) { mount in
        try await script("written.py", work, scratch.source, mount.mountpoint, limit: 40)
      }
    }
  }

  /// Whatever was synced before a kill is in the source, and in the next mount.
  @Test(.timeLimit(.minutes(5))) func whatWasSyncedOutlivesAKill() async throws {
    try await withScratch { scratch in
      try await script(
        "killed.py", MountProcess.binary, scratch.source, scratch.mountpoint, TestExtent.isFull ? "200" : "5", "1",
        limit: TestExtent.isFull ? 280 : 50)
    }
  }

  /// The same where several users see the mount, which then enforces access lists.
  @Test(
    .enabled(if: MountScratch.isRoot, "only root can let others see a mount"),
    arguments: ["files", "links", "strangers"])
  func theSharedMountDoes(_ work: String) async throws {
    try await withScratch { scratch in
      try await withMount(scratch, options: ["-o", "rw,allow_other"]) { mount in
        try await script("written.py", work, scratch.source, mount.mountpoint, limit: 40)
      }
    }
  }
}
