import TestSupport
import Testing

/// Mounts on demand: the process that triggers one waits until the mounting program exits, and that program must finish
/// all its work on the mountpoint before.
@Suite(.serialized, .timeLimit(.minutes(5))) struct AutomountTests {
  private static let isAutofsThere =
    MountScratch.isRoot && MountScratch.exists("/dev/autofs") && MountScratch.has("mount.fuse3")

  /// autofs(5), with an ordinary map; `\#` because `#` starts a comment there.
  @Test(
    .enabled(
      if: isAutofsThere && MountScratch.has("automount"),
      "needs root, /dev/autofs, and the packages autofs and fuse3"))
  func automounterMountsOnAccessAndUnmountsWhenIdle() async throws {
    try await withScratch { scratch in
      try scratch.write("a.txt", "a")
      try scratch.write("b.zip", ZipFixture(ZipFixtureEntry("inner.txt", "inner")))
      let result = try await shell(
        """
        cd "$1" && mkdir auto
        printf '%s\\n' "x -fstype=fuse,ro :$2\\\\#$1/source" > map
        printf '%s\\n' "$1/auto $1/map --timeout=1" > master
        export HOME="$1"
        automount --foreground --dont-check-daemon "$1/master" > log 2>&1 &
        trap 'kill $!; wait $!; umount -l "$1/auto/x" "$1/auto" 2>/dev/null' EXIT
        for round in $(seq 300); do grep -q "$1/auto autofs" /proc/mounts && break; sleep .1; done
        timeout 60 ls "$1/auto/x" "$1/auto/x/b.zip.contents" || { cat log; exit 1; }
        for round in $(seq 200); do grep -q "$1/auto/x " /proc/mounts || exit 0; sleep .1; done
        echo 'it is never unmounted'; exit 1
        """, scratch.path, MountProcess.binary, limit: 50)
      #expect(result.status == 0)
      let names = Set(result.lines)
      #expect(names.isSuperset(of: ["a.txt", "b.zip", "b.zip.contents", "inner.txt"]), "\(result.text)")
    }
  }

  /// As systemd does for `x-systemd.automount`: a direct autofs, and mount(8) in its own process group.
  @Test(.enabled(if: isAutofsThere, "needs root and /dev/autofs"))
  func mountSucceedsUnderSystemdAutomount() async throws {
    try await withScratch { scratch in
      try scratch.write("a.txt", "a")
      let result = try await script(
        "automount.py", scratch.mountpoint, MountProcess.binary, scratch.source, scratch.mountpoint)
      #expect(result.lines == ["a.txt"])
      #expect(!MountProcess.isMounted(scratch.mountpoint))
    }
  }

  /// The helper runs as long as the mount; a caller that reads ffmount's output to its end must not wait for it.
  @Test(.enabled(if: MountScratch.has("fusermount3"), "needs fusermount3, of the package fuse3"))
  func autoUnmountReturnsToTheShell() async throws {
    try await withScratch { scratch in
      try scratch.write("a.txt", "a")
      let result = try await shell(
        """
        said=$("$1" -o auto_unmount "$2/source" "$2/mnt" 2>&1 < /dev/null) || exit 1
        echo "said: $said"
        ls "$2/mnt"
        # Killed, its mount goes with it.
        kill -9 "$(pgrep -f -x -- "$1 -o auto_unmount $2/source $2/mnt")" || exit 2
        for round in $(seq 100); do grep -q "$2/mnt " /proc/mounts || exit 0; sleep .1; done
        exit 3
        """, MountProcess.binary, scratch.path, limit: 20)
      MountProcess.unmount(scratch.mountpoint)
      // fusermount3 may leave the dead mount: see `RobustnessTests.killedDaemonUnmountsItselfWhenTold`.
      withKnownIssue(isIntermittent: true) { #expect(result.status != 3) }
      #expect(result.status == 0 || result.status == 3)
      #expect(result.lines == ["said: ", "a.txt"])
    }
  }
}
