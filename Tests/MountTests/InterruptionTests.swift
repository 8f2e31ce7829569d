import TestSupport
import Testing

/// Work whose caller no longer waits.
@Suite(.serialized, .timeLimit(.minutes(10))) struct InterruptionTests {
  /// The daemon then exits successfully by itself, which `withMount` checks.
  @Test func workEndsWithItsLastReader() async throws {
    try await withScratch { scratch in
      try await withMount(scratch) { mount in
        try await script(
          "interrupted.py", scratch.source, scratch.mountpoint, "\(mount.daemon.pid)", limit: 200)
        mount.daemon.send(15)
        for _ in 0..<1000 where mount.daemon.isRunning { try await Task.sleep(for: .milliseconds(20)) }
        #expect(mount.daemon.status == 0)
        #expect(!mount.isMounted)
      }
    }
  }

  /// After an interrupted search, the next listing shows every message of the mailbox.
  @Test func interruptedScanIsResumed() async throws {
    try await withScratch { scratch in
      let message = "From a Fri Jan  1 00:00:00 2021\nSubject: one\n\n\(String(repeating: "word ", count: 2000))\n\n"
      try scratch.write("inbox.mbox", String(repeating: message, count: 4000))
      try await withMount(scratch) { mount in
        let result = try await shell(
          """
          for round in 1 2 3; do timeout -s KILL .05 ls -f "$1/inbox.mbox.messages" > /dev/null; sleep .7; done
          ls "$1/inbox.mbox.messages" | wc -l
          timeout -s KILL .1 ls "$1/inbox.mbox.views/attachments" > /dev/null; sleep .7
          ls "$1/inbox.mbox.views/by-thread" | wc -l
          timeout -s KILL .3 ls "$1/inbox.mbox.views/search/word" > /dev/null; sleep .7
          until ls "$1/inbox.mbox.views/search/word" | wc -l | grep -x 4000; do sleep .5; done
          """, mount.mountpoint, limit: 120)
        #expect(result.lines == ["4000", "4000", "4000"], "\(result.errors)")
      }
    }
  }

  /// A listing that continues after its first block, and waits for its folder, is interrupted at once.
  @Test func listingIsInterruptibleAtAnyPoint() async throws {
    try await withScratch { scratch in
      let message = "From a Fri Jan  1 00:00:00 2021\nSubject: one\n\ntext\n\n"
      try scratch.write("inbox.mbox", String(repeating: message, count: 700))
      _ = try await shell("truncate -s 4T \"$1/inbox.mbox\"", scratch.source)
      try await withMount(scratch) { mount in
        let result = try await shell(
          """
          timeout -s INT 1 ls -f "$1/inbox.mbox.messages" > /dev/null; echo $?
          """, mount.mountpoint, limit: 20)
        #expect(result.lines == ["124"], "\(result.errors)")
      }
    }
  }
}
