import TestSupport
import Testing

/// Sources on other machines: files and folders of web servers, buckets, and folders behind SSH.
@Suite(
  .serialized, .timeLimit(.minutes(5)), .enabled(if: MountScratch.exists("/dev/fuse"), "needs /dev/fuse"))
struct ElsewhereTests {
  private static let server = MountProcess.program("ffserve")

  /// A file of a web server, by ranges: versions, lies, redirections, a server that ends and comes back.
  @Test func filesOfWebServersAreShownOrRefused() async throws {
    try await expectDone("elsewhere_file.py", MountProcess.binary, limit: 150)
  }

  /// Files of servers without ranges, by a temporary copy: whole or not at all.
  @Test func filesOfServersWithoutRangesAreCopied() async throws {
    try await expectDone("elsewhere_download.py", MountProcess.binary, limit: 150)
  }

  /// The kernel reports only the first signal of a request.
  @Test func programsThatWaitForServersCanBeKilled() async throws {
    try await expectDone("elsewhere_signalled.py", MountProcess.binary, limit: 60)
  }

  /// Disk images, archives, mail, PDFs and others, by their addresses as by their paths.
  @Test func filesOfAllKindsAreShownByTheirAddresses() async throws {
    try await expectDone("elsewhere_kinds.py", MountProcess.binary, limit: 150)
  }

  /// Blocks and listings of sources elsewhere: by later mounts, offline, damaged, on a full disk, by killed processes.
  @Test func sourcesElsewhereAreKeptForLaterMounts() async throws {
    try await expectDone("elsewhere_cache.py", MountProcess.binary, limit: 150)
  }

  /// Servers on public addresses get no credentials of the first one, and do not lead back.
  @Test(.enabled(if: MountScratch.isRoot && MountScratch.exists("/dev/fuse"), "needs root and /dev/fuse"))
  func serversElsewhereGetNoCredentials() async throws {
    try await withScratch { scratch in
      let path = MountScratch.package + "/Tests/Scripts/elsewhere_abroad.py"
      let result = try await shell(
        "exec unshare -nm \"$@\"", MountScratch.python, path, MountProcess.binary, scratch.path, limit: 60)
      #expect(result.lines == ["done"], "\(result.text)")
    }
  }

  @Test func listedFoldersOfWebServersAreShown() async throws {
    try await expectDone("elsewhere_folder.py", MountProcess.binary, limit: 100)
  }

  @Test func foldersOfWebDAVServersAreShown() async throws {
    try await expectDone("elsewhere_dav.py", MountProcess.binary, Self.server, limit: 150)
  }

  /// Of a server that verifies signatures, and refuses what AWS refuses.
  @Test func bucketsOfS3AreShown() async throws {
    try await expectDone("elsewhere_s3.py", MountProcess.binary, limit: 150)
  }

  /// Of OpenSSH's server, with keys of its own.
  @Test func foldersOfSFTPServersAreShown() async throws {
    try await expectDone("elsewhere_sftp.py", MountProcess.binary, limit: 150)
  }
}
