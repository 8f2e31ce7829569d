import Glibc
import TestSupport
import Testing

/// What changes through a mount with `-o rw`.
@Suite(.serialized, .timeLimit(.minutes(10))) struct WritingTests {
  /// Each does the same in the mount and in a bare folder: `written.py`.
  static let works = [
    "files", "names", "opened", "links", "ranges", "locks", "views", "ways_out", "numbers", "programs",
  ]

  @Test(arguments: works) func writableMountBehavesLikeAPlainDirectory(_ work: String) async throws {
    try await withScratch { scratch in
      try await withMount(scratch, options: ["-o", "rw"]) { mount in
        try await script("written.py", work, scratch.source, mount.mountpoint, limit: 40)
      }
    }
  }

  /// Short forms of works of `scripts/check writing`, which makes more of them.
  @Test(arguments: ["two_names", "modelled", "delivered", "saved", "grown"])
  func longWriteRunsBehaveLikeAPlainDirectory(_ work: String) async throws {
    try await withScratch { scratch in
      try await withMount(scratch, options: ["-o", "rw"]) { mount in
        try await script("written.py", work, scratch.source, mount.mountpoint, limit: 200)
      }
    }
  }

  /// The last of 20,000 changes costs what the first did: `scripts/check soak` makes more.
  @Test func costPerChangeStaysConstant() async throws {
    try await withScratch { scratch in
      let said = try await script("soak.py", MountProcess.binary, scratch.path, "20000", limit: 120)
      #expect(said.lines.last == "flat")
    }
  }

  /// Whatever was synced before a kill is in the source, and in the next mount.
  @Test(.timeLimit(.minutes(10))) func syncedDataSurvivesAKill() async throws {
    try await withScratch { scratch in
      try await script(
        "killed.py", MountProcess.binary, scratch.source, scratch.mountpoint, TestExtent.isFull ? "200" : "5", "1",
        limit: TestExtent.isFull ? 280 : 50)
    }
  }

  /// Who waits for a lock when the mount ends is told so: EINTR without a signal comes to him as an error that has no name.
  @Test func lockWaitEndsWithTheMount() async throws {
    try await withScratch { scratch in
      try await withMount(scratch, options: ["-o", "rw"]) { mount in
        let waiter = try MountChild([
          MountScratch.python, "-c",
          """
          import fcntl, os, sys
          files = [os.open(sys.argv[1] + "/lock", os.O_CREAT | os.O_RDWR) for _ in range(2)]
          fcntl.flock(files[0], fcntl.LOCK_EX)
          try: fcntl.flock(files[1], fcntl.LOCK_EX)
          except OSError as error: print(error.strerror)
          """, mount.mountpoint,
        ])
        _ = try await shell(
          "for n in {1..3000}; do grep -Eq 'fuse|request_wait' /proc/$1/wchan && break; sleep .01; done",
          "\(waiter.pid)")
        mount.daemon.send(SIGTERM)
        let said = try await waiter.wait(atMost: 10)
        #expect(said.lines == ["Software caused connection abort"], "\(said.errors)")
      }
    }
  }

  /// A line of /etc/fstab is writable by `writable` alone: mount(8) says `rw` of each without `ro`.
  @Test(
    .enabled(
      if: MountScratch.isRoot && MountScratch.has("mount.fuse3") && MountScratch.has("unshare"),
      "needs root, mount.fuse3 and unshare"))
  func fstabMountsAreReadOnlyByDefault() async throws {
    try await withScratch { scratch in
      let found = try await shell(
        """
        cd "$1" && mkdir bin && cp "$2" bin/ffmount && exec unshare -m --propagation slave bash -c '
          mount --bind bin /usr/local/bin || exit 90
          for options in defaults rw,noauto writable writable,ro ro; do
            printf "%s %s fuse.ffmount %s 0 0\n" "$1/source" "$1/mnt" "$options" >fstab
            mount -T fstab "$1/mnt" 2>/dev/null || exit
            touch mnt/new 2>/dev/null; echo "$options $?"
            umount mnt
          done' bash "$1"
        """, scratch.path, MountProcess.binary)
      #expect(found.lines == ["defaults 1", "rw,noauto 1", "writable 0", "writable,ro 1", "ro 1"], "\(found.errors)")
      #expect(!MountProcess.isMounted(scratch.mountpoint))
    }
  }

  /// The same where several users see the mount, which then enforces access lists.
  @Test(.enabled(if: MountScratch.isRoot, "only root can let others see a mount"), arguments: ["files", "links"])
  func sharedWritableMountBehavesLikeAPlainDirectory(_ work: String) async throws {
    try await withScratch { scratch in
      try await withMount(scratch, options: ["-o", "rw,allow_other"]) { mount in
        try await script("written.py", work, scratch.source, mount.mountpoint, limit: 40)
      }
    }
  }

  /// What several users do in one mount.
  @Test(
    .enabled(if: MountScratch.isRoot, "only root can let others see a mount"), arguments: ["users", "strangers"],
    [false, true])
  func permissionsOfSeveralUsersAreEnforced(_ work: String, isSupervised: Bool) async throws {
    try await withScratch { scratch in
      try await withMount(scratch, options: ["-o", "rw,allow_other"], isSupervised: isSupervised) { mount in
        try await script("written_by_users.py", work, scratch.source, mount.mountpoint, limit: 40)
      }
    }
  }

  @Test func descriptorExhaustionFailsOnlyOpens() async throws {
    try await withScratch { scratch in
      let limited = ["/bin/bash", "-c", "ulimit -n 128; exec \"$@\"", "bash"]
      try await withMount(scratch, options: ["-o", "rw"], prefix: limited) { mount in
        try await script("written.py", "crowded", scratch.source, mount.mountpoint)
      }
    }
  }

  /// As an ordinary user, whom the mode of a file that is open can refuse to open it again for its locks.
  @Test(.enabled("only root can be several users") { MountScratch.isRoot }) func locksOutliveTheModeOfTheirFile()
    async throws
  {
    try await withScratch { scratch in
      let user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
      _ = try await shell("chown 65534:65534 \"$1\" \"$1/source\" \"$1/mnt\"; chmod 755 \"$1\"", scratch.path)
      let fuse = try await MountChild(user + ["test", "-w", "/dev/fuse"]).wait(atMost: 30)
      if fuse.status != 0 { try Test.cancel("\(skipped("another user may not open /dev/fuse"))") }
      try await withMount(scratch, options: ["-o", "rw"], prefix: user) { mount in
        let program = [MountScratch.python, "-B", MountScratch.package + "/Tests/Scripts/locked.py"]
        let words = [scratch.source, mount.mountpoint, "3000", "1"]
        let said = try await MountChild(user + program + words).wait(atMost: 100)
        #expect(said.status == 0, "\(said.text.suffix(3000))\(said.errors)")
      }
    }
  }

  /// A private mount of a user who may read an archive as a member of its group.
  @Test(.enabled("only root can be several users") { MountScratch.isRoot }) func groupMembersCanAccessViews()
    async throws
  {
    try await withScratch { scratch in
      try scratch.write("a.zip", ZipFixture(ZipFixtureEntry("in.txt", "inside")))
      let user = ["setpriv", "--reuid=65534", "--regid=65534", "--groups=4005,4006"]
      let lines = """
        chmod 755 "$1"; chown 65534 "$1/source" "$1/mnt"; chgrp 4006 "$1/source/a.zip"; chmod 640 "$1/source/a.zip"
        """
      _ = try await shell(lines, scratch.path)
      let fuse = try await MountChild(user + ["test", "-w", "/dev/fuse"]).wait(atMost: 30)
      if fuse.status != 0 { try Test.cancel("\(skipped("another user may not open /dev/fuse"))") }
      try await withMount(scratch, options: ["-o", "rw"], prefix: user) { mount in
        let lines = "cd \"$1/a.zip.contents\" && cat in.txt && test -r . && ! test -w . && echo"
        let said = try await MountChild(user + ["bash", "-c", lines, "bash", mount.mountpoint]).wait(atMost: 30)
        #expect(said.text == "inside\n", "\(said.errors)")
      }
    }
  }
}
