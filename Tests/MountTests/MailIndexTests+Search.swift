import Glibc
import TestSupport
import Testing

/// What happens during a search.
extension MailIndexTests {
  /// A mailbox whose search takes long: three messages, and a hole before the last one.
  private func withSlowMailbox(_ body: (Setup, MountProcess) async throws -> Void) async throws {
    try await withMailbox(3) { setup in
      _ = try await shell("truncate -s +2G \"$1\"; echo >>\"$1\"", setup.archive)
      try await setup.make(1, first: 3)
      try setup.scratch.write("other/file", "x")
      try await script("make_mail.py", "rd", "lf", "20", "1", setup.scratch.source + "/other/b.mbox")
      try await setup.settle()
      try await withMount(setup.scratch, environment: setup.environment) { mount in try await body(setup, mount) }
    }
  }

  @Test func interruptedListingReturnsWhileScanContinues() async throws {
    try await withSlowMailbox { setup, mount in
      let waiting = try MountChild(["ls", mount.mountpoint + "/a.mbox.messages"])
      try await Task.sleep(for: .milliseconds(250))
      try #require(waiting.isRunning, "the search must take longer than this")
      waiting.send(SIGINT)
      #expect(try await waiting.wait(atMost: 5).status == -SIGINT)
      let before = try await setup.bytesRead(by: mount)
      var bytes = before
      for _ in 0..<100 where bytes == before {
        try await Task.sleep(for: .milliseconds(20))
        bytes = try await setup.bytesRead(by: mount)
      }
      #expect(bytes > before, "the search goes on")
    }
  }

  @Test func otherDirectoriesStayFastDuringMailboxScan() async throws {
    try await withSlowMailbox { setup, mount in
      let waiting = try MountChild(["ls", mount.mountpoint + "/a.mbox.messages"])
      let name = try MountChild(["stat", mount.mountpoint + "/a.mbox.messages/000004 x"])
      try await Task.sleep(for: .milliseconds(100))
      for _ in 0..<10 {
        let quick = try await shell(
          "ls \"$1\" \"$1/other\" && cat \"$1/other/file\"; ls \"$1/other/b.mbox.messages\" | wc -l", mount.mountpoint)
        #expect(quick.lines.last == "x20", "\(quick.text)\(quick.errors)")
      }
      #expect(waiting.isRunning && name.isRunning, "or nothing was searched meanwhile")
    }
  }

  /// The end of the mount waits neither for the end of the search nor for those who wait for it.
  @Test func mountEndsImmediatelyDuringMailboxScan() async throws {
    try await withSlowMailbox { setup, mount in
      let waiting = try MountChild(["ls", mount.mountpoint + "/a.mbox.messages"])
      try await Task.sleep(for: .milliseconds(100))
      mount.daemon.send(SIGTERM)
      #expect(try await mount.daemon.wait(atMost: 10).status == 0)
      #expect(try await waiting.wait(atMost: 5).status != 0)
    }
  }
}
