import TestSupport
import Testing

/// `ffmount http://…`: a mount of another machine's server.
@Suite(
  .serialized, .timeLimit(.minutes(5)), .enabled(if: MountScratch.exists("/dev/fuse"), "needs /dev/fuse"))
struct ClientTests {
  private static let server = MountProcess.program("ffserve")

  @Test func remoteTreeMatchesTheServersSource() async throws {
    try await expectDone("remote_tree.py", MountProcess.binary, Self.server, limit: 100)
  }

  /// Names, bytes, programs such as rsync(1) and git(1), two writers of one file, and a server that is killed.
  @Test(arguments: ["names", "bytes", "programs", "conflicts"])
  func writableMountsChangeTheServersTree(_ part: String) async throws {
    try await expectDone("remote_writing.py", MountProcess.binary, Self.server, then: part, limit: 150)
  }

  /// The mount of an ordinary user, for that user alone.
  @Test(.enabled(if: MountScratch.isRoot && MountScratch.has("setpriv"), "needs root and setpriv"))
  func ordinaryUsersChangeAServersTree() async throws {
    try await withScratch { scratch in
      let path = MountScratch.package + "/Tests/Scripts/remote_writing.py"
      let result = try await shell(
        """
        chmod 755 "$1"; mkdir "$1/own"; chown 65534:65534 "$1/own"; script=$2
        for part in names bytes; do
          mkdir "$1/own/$part"; chown 65534:65534 "$1/own/$part"
          setpriv --reuid=65534 --regid=65534 --clear-groups -- env HOME="$1/own" XDG_RUNTIME_DIR="$1/own" PATH="$PATH" \
            "$3" "$script" "$4" "$5" "$1/own/$part" $part 2>&1
        done
        """, scratch.path, path, MountScratch.python, MountProcess.binary, Self.server, limit: 100)
      #expect(result.lines == ["done", "done"], "\(result.text)")
    }
  }

  /// One that ends and comes back, has another file by then, hangs, or stays away.
  @Test func lostServersAreRetriedForALimitedTime() async throws {
    try await expectDone("remote_lost.py", MountProcess.binary, Self.server, limit: 100)
  }

  @Test func tokensCertificatesAndAddressesAreChecked() async throws {
    try await expectDone("remote_access.py", MountProcess.binary, Self.server, limit: 100)
  }

  @Test func maliciousServersCauseOnlyErrors() async throws {
    try await withScratch { scratch in
      let result = try await script("remote_hostile.py", MountProcess.binary, scratch.path, limit: 150)
      #expect(result.lines.count == 1 && result.lines[0].hasPrefix("tried 4"), "\(result.text)")
    }
  }
}
