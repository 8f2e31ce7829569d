import Glibc
import TestSupport
import Testing

/// The mailbox data kept between mounts, and its invalidation.
@Suite(.serialized, .timeLimit(.minutes(5))) struct MailIndexTests {
  func withMailbox(_ count: Int, size: Int = 700, _ body: (Setup) async throws -> Void) async throws {
    try await withScratch { scratch in
      let setup = Setup(scratch: scratch, count: count, size: size)
      try await setup.make(count)
      try await setup.settle()
      try await body(setup)
    }
  }

  @Test func secondMountReadsTheIndexInsteadOfTheMailbox() async throws {
    try await withMailbox(3000, size: 5000) { setup in
      let first = try await setup.mountAndCheck()
      #expect(first > 3000 * 5000)
      let second = try await setup.mountAndCheck()
      #expect(second < 3000 * 5000 / 5, "\(second) bytes")
    }
  }

  static let damages = [
    "rm -r \"$(dirname $1)\"", "rm $1", "truncate -s 5000 $1", "truncate -s 0 $1", "truncate -s -4096 $1",
    "head -c $(stat -c %s $1) /dev/urandom >$1", "echo garbage >$1; echo garbage >$1-wal", "rm $1; mkdir $1",
    "head -c 3000 /dev/zero | dd of=$1 bs=1 seek=9000 conv=notrunc 2>&1",
    "sqlite3 $1 'UPDATE record SET value = zeroblob(length(value))'",
    "sqlite3 $1 'DELETE FROM record WHERE rowid IN (SELECT rowid FROM record LIMIT 1 OFFSET 2)'",
    "sqlite3 $1 'PRAGMA user_version = 77'",
  ]

  @Test(arguments: damages) func damagedIndexDoesNotAffectListings(_ damage: String) async throws {
    try await withMailbox(700) { setup in
      try await setup.mountAndCheck()
      let damaged = try await shell(damage, setup.index)
      // If a table differs from what these lines expect, they have still been run.
      #expect(damaged.status == 0 || damage.contains("sqlite3"), "\(damaged.errors)")
      try await setup.mountAndCheck()
      try await setup.mountAndCheck()
    }
  }

  @Test func mailboxIsReadWhileTheIndexIsLocked() async throws {
    try await withMailbox(1500) { setup in
      try await setup.mountAndCheck()
      let holder = try await MountChild.holding(index: setup.index)
      try await setup.mountAndCheck()
      holder.killNow()
    }
  }

  @Test(.enabled(if: MountScratch.isRoot, "needs root"), arguments: ["size=64k", "size=8k", "size=4m,ro"])
  func mailboxIsReadWithFullOrReadOnlyCacheDisk(_ options: String) async throws {
    try await withMailbox(3000) { setup in
      let mounted = try await shell(
        "mkdir \"$2\" && mount -t tmpfs -o \"$1\" tmpfs \"$2\"", options, setup.cache)
      guard mounted.status == 0 else { try Test.cancel("\(skipped("no disk could be mounted: \(mounted.errors)"))") }
      do {
        for _ in 0..<2 { try await setup.mountAndCheck() }
      } catch {
        _ = try await run("umount", "-l", setup.cache)
        throw error
      }
      let unmounted = try await run("umount", setup.cache)
      #expect(unmounted.status == 0, "\(unmounted.errors)")
    }
  }

  @Test func nextMountIsCorrectAfterKillDuringIndexing() async throws {
    try await withMailbox(12_000, size: 400) { setup in
      for round in 0..<20 {
        // Each time a little later, and every fourth time from the start.
        if round.isMultiple(of: 4) { _ = try await run("rm", "-rf", setup.cache) }
        try await withMount(setup.scratch, environment: setup.environment, endsWith: nil) { mount in
          let reader = try MountChild(["ls", mount.mountpoint + "/a.mbox.messages"])
          // As often within the first milliseconds, which are all that an optimized build needs, as later.
          try await Task.sleep(for: .microseconds((1000 << Int.random(in: 0..<8)) + Int.random(in: 0..<1000)))
          mount.daemon.send(SIGKILL)
          _ = try await reader.wait(atMost: 5)
        }
        if round.isMultiple(of: 4) || round == 19 { try await setup.mountAndCheck() }
      }
    }
  }

  @Test func grownMailboxIsScannedIncrementally() async throws {
    try await withMailbox(3000, size: 5000) { setup in
      try await setup.mountAndCheck()
      try await setup.make(70, first: 3000)
      try await setup.settle()
      let bytes = try await setup.mountAndCheck(3070)
      // Each byte once: the known part for its hash, the rest for its messages. Reading everything again would be twice
      // as much.
      #expect(bytes < 3070 * 5000 * 3 / 2, "\(bytes) bytes read")
      let again = try await setup.mountAndCheck(3070)
      #expect(again < 3000 * 5000 / 5, "\(again) bytes read")
    }
  }

  /// Messages are in the order of the mailbox. Those that changed have other numbers than in an index of its own.
  ///
  /// A change inside the known part may coincide with an addition, and keep its length.
  @Test(arguments: ["subject", "separator", "none"])
  func changedPartOfGrownMailboxIsRescanned(_ change: String) async throws {
    try await withMailbox(3000, size: 2000) { setup in
      try await setup.mountAndCheck()
      let edit = """
        import sys
        with open(sys.argv[1], "r+b") as file:
            data = file.read()
            if sys.argv[2] == "subject":
                file.seek(data.index(b"Subject: m777\\n"))
                file.write(b"Subject: x777\\n")
            elif sys.argv[2] == "separator":
                # In the midst of a text, and of a block.
                file.seek(data.index(b"\\n", data.index(b"body 1777\\n") + 600))
                file.write(b"\\n\\nFrom - Mon Jan  1 00:00:00 2018\\nSubject: new\\n\\n")
        """
      let edited = try await run(MountScratch.python, "-c", edit, setup.archive, change)
      try #require(edited.status == 0, "\(edited.errors)")
      try await setup.make(70, first: 3000)
      try await setup.settle()
      func shown(_ environment: [String: String]) async throws -> (names: String, text: String, bytes: Int) {
        try await withMount(setup.scratch, environment: environment) { mount in
          let names = try await shell("ls -U \"$1/a.mbox.messages\" | cut -d ' ' -f 2-", mount.mountpoint)
          let bytes = try await setup.bytesRead(by: mount)
          let text = try await shell(
            "cd \"$1/a.mbox.messages\"; ls -U | sed 's|$|/message.eml|' | xargs -d '\\n' cat | sha1sum",
            mount.mountpoint)
          return (names.text, text.text, bytes)
        }
      }
      let continued = try await shown(setup.environment)
      let anew = try await shown(["XDG_CACHE_HOME": setup.scratch.path + "/none"])
      #expect(continued.names == anew.names && continued.text == anew.text)
      #expect(anew.names.contains(["subject": "- x777\n", "separator": "- new\n"][change] ?? "- m777\n"))
    }
  }

  @Test func mailboxGrowingWhileMountedIsUpdated() async throws {
    try await withMailbox(1200) { setup in
      try await withMount(setup.scratch, environment: setup.environment) { mount in
        try await setup.check(mount)
        for count in [1201, 1230, 1800] {
          let listed = try await shell("ls -U \"$1/a.mbox.messages\" | wc -l", mount.mountpoint)
          let before = Int(listed.text.filter(\.isNumber)) ?? 0
          try await setup.make(count - before, first: before)
          try await eventually { try await setup.check(mount, count) }
        }
      }
    }
  }

  /// A change before the offset to continue at means another mailbox, whatever its size and time are.
  @Test(arguments: ["replaced", "replaced and grown", "rewritten in place", "shorter"])
  func replacedMailboxIsReadFromTheStart(_ change: String) async throws {
    try await withMailbox(1500) { setup in
      try await setup.mountAndCheck()
      let other = setup.scratch.path + "/other"
      var count = 1500
      switch change {
      case "replaced": try await setup.make(1500, at: other)
      case "replaced and grown":
        count = 1700
        try await setup.make(count, at: other, size: 650)
      case "rewritten in place": try await setup.make(1500, at: other, size: 690)
      default:
        count = 700
        try await setup.make(count, at: other)
      }
      let size = ["replaced and grown": 650, "rewritten in place": 690][change]
      let moved =
        change == "rewritten in place"
        ? try await shell("cat \"$1\" >\"$2\"", other, setup.archive)
        : try await shell("touch -r \"$2\" \"$1\" && mv \"$1\" \"$2\"", other, setup.archive)
      #expect(moved.status == 0)
      try await setup.settle()
      try await setup.mountAndCheck(count, size: size)
    }
  }

  /// A mail program marks a message as read: one byte in the middle of the mailbox, which keeps its size.
  @Test func statusChangedInPlaceIsShown() async throws {
    try await withMailbox(1500) { setup in
      try await withMount(setup.scratch, environment: setup.environment) { mount in
        try await setup.check(mount)
        let flip = """
          import sys
          with open(sys.argv[1], "r+b") as file:
              place = file.read().index(b"Subject: m777\\n") + 14
              file.seek(place)
              assert file.read(24) == b"X-Mozilla-Status: 0001\\n\\n"
              file.seek(place + 21)
              file.write(b"9")
          """
        let flipped = try await run(MountScratch.python, "-c", flip, setup.archive)
        try #require(flipped.status == 0, "\(flipped.errors)")
        try await eventually {
          let found = try await shell(
            "cd \"$1/a.mbox.messages\"; grep -h Status 000778*/headers.txt 000778*/message.eml 000777*/headers.txt",
            mount.mountpoint)
          guard found.text == "X-Mozilla-Status: 0009\nX-Mozilla-Status: 0009\nX-Mozilla-Status: 0001\n" else {
            throw MountChild.Failure("\(found.text)\(found.errors)")
          }
        }
      }
      try await withMount(setup.scratch, environment: setup.environment) { mount in
        let found = try await shell(
          "grep -l 'Status: 0009' \"$1\"/a.mbox.messages/*/message.eml | wc -l", mount.mountpoint)
        #expect(found.text == "1\n")
      }
    }
  }

  /// A concurrent listing returns messages that existed, or an error; later ones return what exists.
  @Test func truncationWhileListingYieldsNoWrongMessages() async throws {
    try await withMailbox(6000) { setup in
      for round in 0..<4 {
        let whole = setup.scratch.path + "/whole"
        _ = try await run("cp", setup.archive, whole)
        try await withMount(setup.scratch, environment: setup.environment) { mount in
          let reader = try MountChild(
            [
              "/bin/bash", "-c",
              "for n in 1 2 3; do cat \"$1\"/a.mbox.messages/*/body.txt; done | grep -v words | grep -v '^$'", "bash",
              mount.mountpoint,
            ])
          try await Task.sleep(for: .milliseconds(30 + 60 * round))
          let cut = try await shell(
            "python3 -c 'import os, sys; n = open(sys.argv[1], \"rb\").read().index(b\"body 1000\\n\") + 10; os.truncate(sys.argv[1], n)' \"$1\"",
            setup.archive)
          #expect(cut.status == 0, "\(cut.errors)")
          let read = try await reader.wait(atMost: 40)
          let odd = read.lines.filter { line in
            !(line.hasPrefix("body ") && Int(line.dropFirst(5)).map { $0 < 6000 } ?? false)
          }
          #expect(odd.isEmpty, "\(odd.prefix(5))")
          try await eventually {
            let listed = try await shell("ls \"$1/a.mbox.messages\" | wc -l", mount.mountpoint)
            guard listed.text == "1001\n" else { throw MountChild.Failure(listed.text + listed.errors) }
          }
        }
        _ = try await run("mv", whole, setup.archive)
        try await setup.settle()
      }
    }
  }

  @Test func concurrentDaemonsShareTheIndex() async throws {
    try await withMailbox(4000) { setup in
      let second = setup.scratch.path + "/mnt2"
      _ = try await run("mkdir", second)
      for _ in 0..<2 {
        try await withMount(setup.scratch, environment: setup.environment) { one in
          try await withMount(setup.scratch.source, at: second, environment: setup.environment) { two in
            async let first: Void = setup.check(one)
            async let other: Void = setup.check(two)
            _ = try await (first, other)
          }
        }
      }
      #expect(try await setup.mountAndCheck() < 4000 * 700 / 2 + 1_500_000)
    }
  }
}

/// Retries until `body` succeeds; a change is visible within a second. Throws the last failure.
private func eventually(_ body: () async throws -> Void) async throws {
  for _ in 0..<30 {
    do { return try await body() } catch { try await Task.sleep(for: .milliseconds(50)) }
  }
  try await body()
}
