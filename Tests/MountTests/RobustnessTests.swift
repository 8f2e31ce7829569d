import Glibc
import TestSupport
import Testing

/// Events that a mount must survive.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RobustnessTests {
  private func makeLarge(_ scratch: MountScratch) async throws {
    try await script("read_anyhow.py", "make", "3", "\(8 << 20)", scratch.source + "/m.deflated.zip")
    _ = try await shell("head -c 30000000 /dev/urandom >\"$1/large\"", scratch.source)
  }

  /// Programs that read repeatedly until something fails.
  private func startReaders(_ mountpoint: String, _ count: Int = 4) throws -> [MountChild] {
    try (0..<count).map { _ in
      try MountChild(
        [
          "/bin/bash", "-c",
          "while cat \"$1/large\" \"$1/m.deflated.zip.contents/m\" && ls -R \"$1\"; do :; done >/dev/null", "bash",
          mountpoint,
        ])
    }
  }

  @Test func mountpointIsReusableAfterKilledDaemon() async throws {
    try await withScratch { scratch in
      try await makeLarge(scratch)
      try await withMount(scratch, endsWith: nil) { mount in
        let readers = try startReaders(mount.mountpoint)
        try await Task.sleep(for: .milliseconds(400))
        #expect(readers.filter(\.isRunning).count == readers.count)
        mount.daemon.send(SIGKILL)
        for reader in readers { _ = try await reader.wait(atMost: 5) }
        #expect(try await mount.daemon.wait(atMost: 5).status == -SIGKILL)
        #expect(mount.isMounted, "the dead mount lies there")
        try await withMount(scratch) { again in
          let compared = try await run("cmp", scratch.source + "/large", again.mountpoint + "/large")
          #expect(compared.status == 0)
        }
      }
      #expect(!MountProcess.isMounted(scratch.mountpoint))
    }
  }

  @Test func autoUnmountRemovesMountOfKilledDaemon() async throws {
    try await withScratch { scratch in
      try await makeLarge(scratch)
      try await withMount(scratch, options: ["-o", "auto_unmount"], endsWith: nil) { mount in
        #expect(try await run("ls", mount.mountpoint).status == 0)
        mount.daemon.send(SIGKILL)
        for _ in 0..<100 where mount.isMounted { try await Task.sleep(for: .milliseconds(50)) }
        // fusermount3 checks once, with an open that must fail with ENOTCONN; while the kernel aborts the connection it
        // may be ECONNABORTED, and the dead mount is left for the next ffmount to detach.
        withKnownIssue(isIntermittent: true) { #expect(!mount.isMounted) }
      }
    }
  }

  @Test func lazyUnmountLetsReadersFinish() async throws {
    try await withScratch { scratch in
      try await makeLarge(scratch)
      try await withMount(scratch) { mount in
        let reader = try MountChild(
          [
            "/bin/bash", "-c",
            "exec <\"$1/large\" 3<\"$1/m.deflated.zip.contents/m\"; head -c 1000 <&3 | wc -c; sleep 1; cat | wc -c; cat <&3 | wc -c",
            "bash", mount.mountpoint,
          ])
        try await Task.sleep(for: .milliseconds(400))
        let busy = try await run("fusermount3", "-u", mount.mountpoint)
        #expect(busy.status != 0, "in use")
        #expect(try await run("ls", mount.mountpoint).status == 0, "and still there")
        #expect(try await run("fusermount3", "-u", "-z", mount.mountpoint).status == 0)
        #expect(!mount.isMounted)
        let result = try await reader.wait(atMost: 20)
        // `head` reads a buffer.
        #expect(
          result.lines.first == "1000" && result.lines.dropFirst().first == "30000000", "\(result.text)\(result.errors)"
        )
        #expect(result.lines.last.flatMap { Int($0) } ?? 0 > 8_000_000)
        #expect(try await mount.daemon.wait(atMost: 10).status == 0)
      }
    }
  }

  @Test func signalEndsDaemonDespiteActiveReaders() async throws {
    try await withScratch { scratch in
      try await makeLarge(scratch)
      try await withMount(scratch) { mount in
        let readers = try startReaders(mount.mountpoint)
        try await Task.sleep(for: .milliseconds(400))
        mount.daemon.send(SIGTERM)
        #expect(try await mount.daemon.wait(atMost: 10).status == 0)
        #expect(!mount.isMounted)
        for reader in readers { _ = try await reader.wait(atMost: 5) }
      }
    }
  }

  @Test func consecutiveMountsSucceed() async throws {
    try await withScratch { scratch in
      try scratch.write("a.zip", ZipFixture(ZipFixtureEntry("in.txt", "inside").deflated()))
      for _ in 0..<10 {
        try await withMount(scratch) { mount in
          let found = try await shell("cat \"$1/a.zip.contents/in.txt\"; ls \"$1\"", mount.mountpoint)
          #expect(found.text == "insidea.zip\na.zip.contents\n")
        }
      }
      #expect(!MountProcess.isMounted(scratch.mountpoint))
    }
  }

  @Test func repeatedMountsLeaveNoResources() async throws {
    try await withScratch { scratch in
      try scratch.write("a.zip", ZipFixture(ZipFixtureEntry("in.txt", "inside").deflated()))
      // A program with a sanitizer takes a second to start.
      let count = Sanitizer.name != nil ? 100 : TestExtent.isFull ? 1000 : 60
      try await script("mounts.py", MountProcess.binary, scratch.source, scratch.mountpoint, "\(count)", limit: 120)
    }
  }

  @Test func daemonReleasesResourcesAfterManyCycles() async throws {
    try await withScratch { scratch in
      try await withMount(scratch) { mount in
        try await script(
          "cycles.py", scratch.source, mount.mountpoint, "\(mount.daemon.pid)", TestExtent.isFull ? "1000" : "160",
          limit: 55)
      }
    }
  }

  /// Not with `-o rw`, where what is open keeps its descriptor, so that it outlives its name.
  @Test(.enabled(if: !MountProcess.isWritable, "each open file needs a descriptor"))
  func sixtyFourDescriptorsServeSixtyFourReaders() async throws {
    try await withScratch { scratch in
      try await script("crowd.py", "make", scratch.source)
      try await withMount(scratch, prefix: ["/bin/bash", "-c", "ulimit -n 64; exec \"$@\"", "bash"]) { mount in
        try await script("crowd.py", "read", mount.mountpoint)
        let footprint = try await MountFootprint(of: mount.daemon.pid)
        #expect(footprint.descriptors <= 64)
        let native = try await shell(
          "cd \"$1\"; find . -type f -print0 | sort -z | xargs -0 sha1sum | sha1sum", scratch.source)
        let mounted = try await shell(
          "cd \"$1\"; find . -name '*.contents' -prune -o -type f -print0 | sort -z | xargs -0 sha1sum | sha1sum",
          mount.mountpoint)
        #expect(native.text == mounted.text)
      }
    }
  }

  @Test func interruptedReadersDoNotAffectOthers() async throws {
    try await withScratch { scratch in
      try await makeLarge(scratch)
      try await withMount(scratch) { mount in
        for round in 0..<30 {
          let reader = try MountChild(
            [
              "/bin/bash", "-c",
              "exec cat \"$1/m.deflated.zip.contents/m\" \"$1/large\" \"$1/m.deflated.zip.contents/m\" >/dev/null",
              "bash", mount.mountpoint,
            ])
          try await Task.sleep(for: .milliseconds(5 + 4 * round))
          reader.send(round.isMultiple(of: 3) ? SIGKILL : SIGINT)
          _ = try await reader.wait(atMost: 5)
        }
        try await script(
          "read_anyhow.py", "sequential", "3", "\(8 << 20)", mount.mountpoint + "/m.deflated.zip.contents/m")
        let compared = try await run("cmp", scratch.source + "/large", mount.mountpoint + "/large")
        #expect(compared.status == 0)
        let footprint = try await MountFootprint(of: mount.daemon.pid)
        #expect(footprint.threads < 30 && footprint.descriptors < 60, "\(footprint)")
      }
    }
  }

  @Test func movedSourceIsFollowedAndDeletedSourceFails() async throws {
    try await withScratch { scratch in
      try scratch.write("folder/file", "x")
      try await withMount(scratch) { mount in
        _ = try await run("ls", mount.mountpoint + "/folder")
        _ = try await run("mv", scratch.source, scratch.path + "/moved")
        try await Task.sleep(for: .milliseconds(1100))
        // The mount follows the folder when it is moved.
        #expect(try await run("cat", mount.mountpoint + "/folder/file").text == "x")
        _ = try await run("rm", "-r", scratch.path + "/moved")
        try await Task.sleep(for: .milliseconds(1100))
        let gone = try await run("cat", mount.mountpoint + "/folder/file")
        #expect(gone.status == 1)
        #expect(try await run("ls", mount.mountpoint).text == "")
      }
    }
  }

  /// One long conversion must not delay other replies.
  @Test func slowRequestsDoNotDelayFastOnes() async throws {
    try await withScratch { scratch in
      try await script("read_anyhow.py", "make", "3", "\(96 << 20)", scratch.source + "/m.deflated.zip")
      try scratch.write("file", "x")
      try await withMount(scratch) { mount in
        // The last byte of many megabytes, read by more processes than there are threads.
        let slow = try (0..<24).map { _ in
          try MountChild(["tail", "-c", "1", mount.mountpoint + "/m.deflated.zip.contents/m"])
        }
        try await Task.sleep(for: .milliseconds(50))
        for _ in 0..<5 {
          let quick = try await run("cat", mount.mountpoint + "/file")
          #expect(quick.text == "x")
        }
        #expect(slow.contains { $0.isRunning }, "or nothing was read meanwhile")
        for reader in slow {
          let result = try await reader.wait(atMost: 40)
          #expect(result.status == 0)
        }
      }
    }
  }

  /// A file system in the source that does not respond, as a disk or a server may: another mount whose daemon is
  /// stopped.
  @Test func hangingSourceBlocksOnlyItsOwnReaders() async throws {
    try await withScratch { inner in
      try inner.write("file", "y")
      try await withScratch { outer in
        try outer.write("file", "x")
        let hanging = outer.source + "/hanging"
        _ = try await run("mkdir", hanging)
        try await withMount(inner.source, at: hanging) { slow in
          try await withMount(outer.source, at: outer.mountpoint) { mount in
            #expect(try await run("cat", mount.mountpoint + "/hanging/file").text == "y")
            slow.daemon.suspend()
            // The kernel's cache has expired.
            try await Task.sleep(for: .milliseconds(700))
            let stuck = try (0..<4).map { _ in try MountChild(["cat", mount.mountpoint + "/hanging/file"]) }
            try await Task.sleep(for: .milliseconds(100))
            for _ in 0..<5 { #expect(try await run("cat", mount.mountpoint + "/file").text == "x") }
            #expect(stuck.allSatisfy { $0.isRunning }, "they hang indeed")
            slow.daemon.send(SIGCONT)
            for reader in stuck { #expect(try await reader.wait(atMost: 10).text == "y") }
          }
        }
      }
    }
  }
}
