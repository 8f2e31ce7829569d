import TestSupport
import Testing

/// A source that does not respond, such as a network file system whose server is gone: only readers of it wait.
@Suite(
  .serialized, .timeLimit(.minutes(5)),
  .enabled(if: MountScratch.isRoot && MountScratch.exists("/dev/fuse"), "needs root and /dev/fuse"))
struct HangingSourceTests {
  /// Mounts a scratch folder's `source` through a file system that hangs, and calls `body` with ffmount's mount and the
  /// process of that file system.
  private func withHangingSource(
    endsWith expected: Int32? = 0, _ body: (MountScratch, MountProcess, MountChild) async throws -> Void
  ) async throws {
    try await withScratch { scratch in
      try scratch.write("plain.txt", "plain")
      try scratch.write("small.zip", ZipFixture(ZipFixtureEntry("inner.txt", "inner")))
      try scratch.write("inbox.mbox", "From a Fri Jan  1 00:00:00 2021\nSubject: one\n\ntext\n")
      try scratch.write(
        "large.zip", ZipFixture(ZipFixtureEntry("large.bin", [UInt8](repeating: 7, count: 3 << 20))))
      try await withHangingSource(scratch, endsWith: expected) { mount, source in
        try await body(scratch, mount, source)
      }
    }
  }

  /// Mounts the existing files of `source` through a file system that hangs, and calls `body`.
  private func withHangingSource(
    _ scratch: MountScratch, endsWith expected: Int32? = 0, _ body: (MountProcess, MountChild) async throws -> Void
  ) async throws {
    let hanging = scratch.path + "/hanging"
    _ = try await shell("mkdir \"$1\"", hanging)
    let source = try MountChild(
      [MountScratch.python, MountScratch.package + "/Tests/Scripts/hanging.py", scratch.source, hanging])
    do {
      for _ in 0..<500 where !MountProcess.isMounted(hanging) { try await Task.sleep(for: .milliseconds(10)) }
      try await withMount(hanging, at: scratch.mountpoint, endsWith: expected) { mount in
        try await body(mount, source)
      }
    } catch {
      source.send(10)
      await offThread { MountProcess.unmount(hanging) }
      throw error
    }
    source.send(10)
    await offThread { MountProcess.unmount(hanging) }
    _ = try await source.wait(atMost: 10)
  }

  /// cat, stat and ls of views, 96 at a time: more than the usual number of threads.
  @Test func blockedReadersDoNotBlockOtherReaders() async throws {
    try await withHangingSource { scratch, mount, source in
      let result = try await script(
        "hung_readers.py", scratch.mountpoint, "\(mount.daemon.pid)", "\(source.pid)", "96", limit: 100)
      let numbers = result.text.split(separator: " ").compactMap { Int($0.filter(\.isNumber)) }
      try #require(numbers.count == 4, "\(result.text)")
      let (during, after) = (numbers[2], numbers[3])
      #expect(during <= 512)
      #expect(after < during && after <= numbers[1] + 60, "\(result.text)")
    }
  }

  /// As on a disk with bad sectors.
  @Test func namesWithoutAttributesAreListed() async throws {
    try await withScratch { scratch in
      for name in ["bad", "bad.zip", "bad.txt", "bad untold", "stale.txt", "stale", "untold"] {
        try scratch.write(name, "text")
      }
      for number in 0..<1200 { try scratch.write("\(number).txt", "\(number)") }
      try scratch.write("good.zip", ZipFixture(ZipFixtureEntry("inner.txt", "inner")))
      try await withHangingSource(scratch) { mount, _ in
        let said = try await script(
          "unreadable.py", MountProcess.binary, MountProcess.program("ffserve"), scratch.path + "/hanging",
          mount.mountpoint, scratch.path, limit: 60)
        #expect(said.lines == ["done"], "\(said.text.prefix(4000)) \(said.errors.suffix(2000))")
      }
    }
  }

  @Test(arguments: ["TERM", "unmount"])
  func daemonEndsDespiteBlockedRequests(_ manner: String) async throws {
    try await withHangingSource { scratch, mount, source in
      let result = try await shell(
        """
        for index in $(seq 8); do
          cat "$1/hang$index.bin" & cat "$1/hang$index.zip.contents/x" & ls "$1/hang$index.mbox.messages" &
        done > /dev/null 2>&1
        sleep .5
        if [ "$3" = TERM ]; then kill "$2"; else umount -l "$1"; kill -9 $(jobs -p); fi
        # Ten times as long as is promised.
        for round in $(seq 200); do
          [ -d "/proc/$2" ] && ! grep -q '^State:.*zombie' "/proc/$2/status" || exit 0
          sleep .1
        done
        exit 1
        """, scratch.mountpoint, "\(mount.daemon.pid)", manner, limit: 60)
      #expect(result.status == 0, "\(result.errors)")
      #expect(!mount.isMounted)
    }
  }
}
