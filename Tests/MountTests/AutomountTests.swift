import TestSupport
import Testing

/// Mounts that nobody types: whoever asks for one waits for the program that mounts to end, and that has to do all it does with
/// the mountpoint before.
@Suite(.serialized, .timeLimit(.minutes(2))) struct AutomountTests {
  private static let isAutofsThere =
    MountScratch.isRoot && MountScratch.exists("/dev/autofs") && MountScratch.has("mount.fuse3")

  /// autofs(5), with the map of an ordinary user of it; `\#` because a bare one starts a comment there.
  @Test(
    .enabled(
      if: isAutofsThere && MountScratch.has("automount"),
      "needs root, /dev/autofs, and the packages autofs and fuse3"))
  func automounterMountsAtTheFirstLookAndUnmountsUnused() async throws {
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
        for round in $(seq 100); do grep -q "$1/auto autofs" /proc/mounts && break; sleep .1; done
        timeout 20 ls "$1/auto/x" "$1/auto/x/b.zip.contents" || { cat log; exit 1; }
        for round in $(seq 200); do grep -q "$1/auto/x " /proc/mounts || exit 0; sleep .1; done
        echo 'it is never unmounted'; exit 1
        """, scratch.path, MountProcess.binary, limit: 50)
      #expect(result.status == 0)
      let names = Set(result.lines)
      #expect(names.isSuperset(of: ["a.txt", "b.zip", "b.zip.contents", "inner.txt"]), "\(result.text)")
    }
  }

  /// What systemd does for `x-systemd.automount`: a direct autofs, and mount(8) in its own process group.
  @Test(.enabled(if: isAutofsThere, "needs root and /dev/autofs"))
  func mountsWhereSystemdHasToldTheKernelToWait() async throws {
    try await withScratch { scratch in
      try scratch.write("a.txt", "a")
      let result = try await script(
        "automount.py", scratch.mountpoint, MountProcess.binary, scratch.source, scratch.mountpoint)
      #expect(result.lines == ["a.txt"])
      #expect(!MountProcess.isMounted(scratch.mountpoint))
    }
  }

  /// The helper stays as long as the mount; whoever reads what ffmount says to its end must not wait for that.
  @Test(.enabled(if: MountScratch.has("fusermount3"), "needs fusermount3, of the package fuse3"))
  func unmountingAutomaticallyReturnsToTheShell() async throws {
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
      #expect(result.status == 0)
      #expect(result.lines == ["said: ", "a.txt"])
    }
  }
}
