import Foundation
import TestSupport
import Testing

/// Mounts that outlive the process that serves them.
@Suite(
  .serialized, .timeLimit(.minutes(5)),
  .enabled(if: MountScratch.exists("/dev/fuse"), "needs /dev/fuse"))
struct KeptTests {
  /// What each script begins with: `P` is the process that serves, `K` its keeper.
  private static let start = """
    B=$1; S=$2; M=$3; cd "$S"/..; trap '"$B" -u -z "$M" 2>/dev/null' EXIT
    serving() { cat /proc/$K/task/$K/children | tr -d ' '; }
    keeper() {
      for k in /proc/[0-9]*; do
        [ "$(cat $k/comm)" = ffkeep ] && tr '\\0' '\\n' <$k/cmdline | grep -qxF -e "$M" && echo ${k#/proc/}
      done 2>/dev/null
    }

    """

  private func run(_ script: String, _ scratch: MountScratch, limit: Double = 60) async throws -> [String] {
    let result = try await shell(
      Self.start + script, MountProcess.binary, scratch.source, scratch.mountpoint, limit: limit)
    #expect(result.status == 0, "\(result.errors)")
    return result.lines
  }

  @Test func readersSurviveProcessRestarts() async throws {
    let words =
      TestExtent.isFull
      ? [] : ["--kills", "40", "--traps", "2", "--terms", "1", "--readers", "9", "--family", "sample", "--no-samba"]
    let program = MountScratch.package + "/scripts/checks/kept"
    let result = try await MountChild([MountScratch.python, program, "--binary", MountProcess.binary] + words)
      .wait(atMost: TestExtent.isFull ? 900 : 100)
    #expect(result.status == 0, "\(result.text.suffix(6000)) \(result.errors.suffix(2000))")
    #expect(result.text.contains(" 0 errors"), "\(result.text)")
  }

  /// The kernel knows no attributes of the root until its first request.
  @Test(.enabled("only root can be several users") { MountScratch.isRoot }) func firstRequestMayBeOfAnotherUser()
    async throws
  {
    try await withScratch { scratch in
      try scratch.write("a.txt", "a")
      let lines = try await run(
        """
        chmod 755 . "$S"; chmod 644 "$S/a.txt"; "$B" -o allow_other "$S" "$M"; K=$(keeper); P=$(serving)
        other() { setpriv --reuid 4001 --regid 4001 --clear-groups cat "$M/a.txt"; echo; }
        other; kill -KILL $P; for i in $(seq 600); do [ "$(serving)" != $P ] && break; sleep .05; done; other
        """, scratch)
      #expect(lines == ["a", "a"])
    }
  }

  @Test(.enabled("only root can be several users") { MountScratch.isRoot }, arguments: ["", ",rw"])
  func openFoldersThatBecomePrivateStayPrivateInTheNextProcess(_ more: String) async throws {
    try await withScratch { scratch in
      _ = try await shell("chmod 755 \"$1\"", scratch.path)
      let said = try await script(
        "kept_private.py", MountProcess.binary, scratch.source, scratch.mountpoint, "allow_other" + more, limit: 120)
      #expect(said.text == "done\n", "\(said.text.prefix(4000)) \(said.errors.suffix(2000))")
    }
  }

  @Test(.enabled(if: MountScratch.has("zip"), "needs zip")) func givenPasswordSurvivesTheProcess() async throws {
    try await withScratch { scratch in
      let lines = try await run(
        """
        echo inside > in.txt; zip -q -P 'two words' "$S/a.zip" in.txt; "$B" "$S" "$M"; K=$(keeper); P=$(serving)
        for word in wrong 'two words'; do echo "$word" | "$B" unlock --stdin "$M/a.zip" 2>&1 | grep -o 'can be read'; done
        kill -9 $P; cat "$M/a.zip.contents/in.txt"; [ $P != $(serving) ] && echo another
        "$B" -u "$M"; "$B" "$S" "$M"; cat "$M/a.zip.contents/in.txt" 2>&1 | grep -o 'Permission denied'
        """, scratch)
      #expect(lines == ["can be read", "inside", "another", "Permission denied"])
    }
  }

  /// At once, by a full stack on a worker's thread, and after the reply.
  @Test(arguments: ["bad.txt", "deep:bad.txt", "later:bad.txt"])
  func fileThatCrashesTheProcessTwiceIsRefused(trap: String) async throws {
    try await withScratch { scratch in
      try scratch.write("bad.txt", "bad")
      try scratch.write("good.txt", "good")
      let lines = try await run(
        """
        FFMOUNT_TEST_TRAP=\(trap) "$B" "$S" "$M"; K=$(keeper); P=$(serving); n=0
        until dd if="$M/bad.txt" iflag=direct 2>&1 | grep -o 'Input/output error'; do
          sleep .1; n=$((n + 1)); [ $n -gt 3 ] && break
        done
        Q=$(serving); [ $P != $Q ] && echo another; dd if="$M/bad.txt" iflag=direct 2>&1 | grep -o 'Input/output error'
        [ $Q = $(serving) ] && echo the same; cat "$M/good.txt"; echo; stat -c %s "$M/bad.txt"; ls "$M"
        "$B" why "$M/bad.txt" | grep -o 'has ended ffmount twice'; "$B" why "$M/good.txt" | grep -c 'no problem is known'
        """, scratch)
      #expect(
        lines == [
          "Input/output error", "another", "Input/output error", "the same", "good", "3", "bad.txt", "good.txt",
          "has ended ffmount twice", "1",
        ])
    }
  }

  /// By processes that end before they answer, and by traps in work of their own. What is below the mount stays hidden.
  @Test func unrecoverableMountRefusesAllRequests() async throws {
    try await withScratch { scratch in
      try scratch.write("a.txt", "a")
      let lines = try await run(
        """
        tell() {
          mountpoint -q "$M" && echo mounted; ls "$M" 2>&1 | grep -o 'Input/output error'
          cat "$M/a.txt" 2>&1 | grep -o 'Input/output error'; stat -c %F "$M"
          "$B" why "$M" | grep -o 'cannot serve this mount'; "$B" why "$M/a.txt" 2>&1 | grep -o 'cannot serve this mount'
        }
        mkdir below; touch below/x; mv "$S" away
        mkdir "$S"; cp away/a.txt "$S"; "$B" "$S" "$M"; K=$(keeper); exec 7<"$M" 8<"$M/a.txt"; cd "$M"
        rm -r "$S"; kill -KILL $(serving)
        for i in $(seq 600); do [ -z "$(serving)" ] && ls "$M" 2>&1 | grep -q 'Input/output' && break; sleep .05; done
        tell; cat <&8 2>&1 | grep -o 'Input/output error'; ls . 2>&1 | grep -o 'Input/output error'
        mkdir "$S"; cp ../away/a.txt "$S" 2>/dev/null || cp "${S%/*}/away/a.txt" "$S"
        kill -USR2 $K; for i in $(seq 600); do [ "$(cat "$M/a.txt" 2>/dev/null)" = a ] && echo again && break; sleep .05; done
        cd /; exec 7<&- 8<&-; "$B" -u "$M" && echo unmounted
        for i in $(seq 600); do [ -d /proc/$K ] || break; sleep .05; done; [ -d /proc/$K ] || echo ended
        "$B" "$S" "$M"; K=$(keeper); n=0
        while P=$(serving) && [ -n "$P" ] && kill -SEGV $P; do
          n=$((n + 1)); while [ "$(serving)" = $P ]; do sleep .01; done; ls "$M"
        done >/dev/null 2>&1
        [ $n -ge 10 ] && tell; kill -TERM $K
        for i in $(seq 600); do mountpoint -q "$M" || break; sleep .05; done; mountpoint -q "$M" || echo unmounted
        """, scratch)
      let refusal = [
        "mounted", "Input/output error", "Input/output error", "directory", "cannot serve this mount",
        "cannot serve this mount",
      ]
      #expect(
        lines == refusal + ["Input/output error", "Input/output error", "again", "unmounted", "ended"] + refusal
          + ["unmounted"])
    }
  }

  @Test func superviseUnmountLeavesNoDeadMount() async throws {
    try await withScratch { scratch in
      let lines = try await run(
        """
        "$B" -o supervise=unmount "$S" "$M"; K=$(keeper); rmdir "$S"; kill -KILL $(serving); exec 7<"$M"
        for i in $(seq 600); do [ -d /proc/$K ] || break; sleep .05; done; mountpoint -q "$M" || echo unmounted; mkdir "$S"
        exec 7<&-; "$B" -o supervise=unmount "$S" "$M"; K=$(keeper); n=0
        while P=$(serving) && kill -SEGV $P; do
          n=$((n + 1)); while [ "$(serving)" = $P ]; do sleep .01; done; ls "$M"
        done 2>/dev/null
        [ $n -ge 10 ] && ! mountpoint -q "$M" && echo unmounted
        """, scratch)
      #expect(lines == ["unmounted", "unmounted"])
    }
  }

  /// The process is stopped, so it neither answers nor ends by itself.
  @Test(arguments: ["unmount", "signal"]) func supervisorEndsThoughItsProcessHangs(_ manner: String) async throws {
    try await withScratch { scratch in
      try scratch.write("a.txt", "a")
      let lines = try await run(
        """
        "$B" "$S" "$M"; K=$(keeper); P=$(serving); cat "$M/a.txt"; echo; kill -STOP $P
        if [ \(manner) = unmount ]; then fusermount3 -u "$M"; else kill $K; fi
        for i in $(seq 600); do kill -0 $K 2>/dev/null || break; sleep .05; done
        kill -0 $K 2>/dev/null && echo left; kill -0 $P 2>/dev/null && echo "process left"
        mountpoint -q "$M" && echo mounted; true
        """, scratch)
      #expect(lines == ["a"])
    }
  }

  @Test func processExceedingMemoryLimitIsReplaced() async throws {
    try await withScratch { scratch in
      try scratch.write("large.txt", "large")
      let lines = try await run(
        """
        FFMOUNT_TEST_TRAP=large:large.txt "$B" -o memory=8M "$S" "$M"; K=$(keeper); P=$(serving); exec 7<"$M/large.txt"
        head -c 2 <&7; echo; for i in $(seq 600); do [ $P != "$(serving)" ] && break; sleep .05; done
        [ $P != "$(serving)" ] && echo another; cat <&7; echo
        """, scratch)
      #expect(lines == ["la", "another", "rge"])
    }
  }

  @Test func upgradeTakesOverARunningMount() async throws {
    try await withScratch { scratch in
      try scratch.write("a.zip", ZipFixture(ZipFixtureEntry("in.txt", "inside")))
      let lines = try await run(
        """
        mkdir bin; cp "$B" "$(dirname "$B")/ffkeep" bin; B=$PWD/bin/ffmount
        "$B" "$S" "$M" 2>/dev/null; K=$(keeper); P=$(serving); exec 7<"$M/a.zip.contents/in.txt"
        "$B" upgrade "$M" | grep -c '(it was '; [ $P != $(serving) ] && echo another; head -c 2 <&7; echo
        # An update that does not start.
        cp "$B" bin/before; printf '#!/bin/sh\nexit 3\n' >bin/after; chmod +x bin/after; mv bin/after "$B"
        P=$(serving); kill -USR2 $K; for i in $(seq 600); do [ "$(serving)" != $P ] && ls "$M" >list && break; sleep .05; done
        cat list; head -c 2 <&7; echo; mv bin/before "$B"; "$B" upgrade "$M" | grep -c '(it was '; cat <&7; echo
        """, scratch)
      #expect(lines == ["1", "another", "in", "a.zip", "a.zip.contents", "si", "1", "de"])
    }
  }

  /// What is open, locked, half written and without a name in a mount that can be written.
  @Test func writersSurviveProcessRestarts() async throws {
    try await withScratch { scratch in
      try scratch.write("kept.py", Self.writer)
      let lines = try await run(
        """
        "$B" -o rw "$S" "$M"; K=$(keeper); "\(MountScratch.python)" "$S/kept.py" $K "$M"; "$B" -u "$M"
        cat "$S/log"; echo; ls "$S"; for i in $(seq 600); do [ -d /proc/$K ] || break; sleep .05; done; [ -d /proc/$K ] || echo ended
        """, scratch)
      #expect(lines == ["locked", "locked", "locked", "0123", "kept", "kept.py", "log", "table.csv", "ended"])
    }
  }

  private static let writer = """
    import errno, fcntl, os, signal, sys, time
    keeper = f"/proc/{sys.argv[1]}/task/{sys.argv[1]}/children"
    os.chdir(sys.argv[2])

    def kill():
        before = open(keeper).read()
        os.kill(int(before), signal.SIGKILL)
        while open(keeper).read() in (before, ""):
            time.sleep(0.01)

    def opened(name, flags):
        return os.open(name, flags | os.O_CREAT | os.O_EXCL, 0o444)

    kept, gone, log = opened("kept", os.O_RDWR), opened("gone", os.O_RDWR), opened("log", os.O_WRONLY | os.O_APPEND)
    moved = opened("moved", os.O_RDWR)
    table = opened("table.csv", os.O_RDWR)
    os.write(table, b"a,b")
    os.unlink("gone")
    os.mkdir("folder")
    os.rename("moved", "folder/there")
    os.write(log, b"0")
    fcntl.lockf(kept, fcntl.LOCK_EX, 5, 0)
    for number in range(1, 4):
        kill()
        os.write(gone, b"bytes")
        os.fsync(gone)
        assert os.pread(gone, 9, 0) == b"bytes" and os.fstat(gone).st_nlink == 0
        os.ftruncate(gone, 0)
        os.lseek(gone, 0, os.SEEK_SET)
        os.write(log, str(number).encode())
        assert os.fstat(log).st_size == number + 1
        os.pwrite(moved, b"x", number)
        assert os.stat("folder/there").st_size == number + 1
        os.link("folder/there", "other")
        os.rename("other", "folder/other")
        os.unlink("folder/other")
        assert os.fstat(moved).st_nlink == 1
        try:
            os.mkdir("table.csv.as-txt/x")
        except OSError as error:
            assert error.errno in (errno.EROFS, errno.ENOTDIR), error
        if os.fork() == 0:
            try:
                fcntl.lockf(os.open("kept", os.O_RDONLY), fcntl.LOCK_SH | fcntl.LOCK_NB, 1, 2)
                print("not locked", flush=True)
            except BlockingIOError:
                print("locked", flush=True)
            os._exit(0)
        os.wait()
    os.unlink("folder/there")
    os.rmdir("folder")
    """

  /// Locks that end are reported or documented, and no process waits for them.
  @Test(arguments: ["process", "process holder", "process supervisor", "process holder supervisor"])
  func locksAreKeptOrEndWithoutWaiting(victims: String) async throws {
    try await withScratch { scratch in
      let program = MountScratch.package + "/Tests/Scripts/killed_together.py"
      let words =
        [MountProcess.binary, scratch.source, scratch.mountpoint] + victims.split(separator: " ").map(String.init)
      let result = try await MountChild([MountScratch.python, program] + words).wait(atMost: 100)
      await offThread { MountProcess.unmount(scratch.mountpoint) }
      #expect(result.status == 0, "\(result.text)\(result.errors)")
    }
  }

  @Test func mountWorksWithoutSupervision() async throws {
    try await withScratch { scratch in
      try scratch.write("a.txt", "a")
      let lines = try await run(
        """
        "$B" -o supervise=off "$S" "$M"; echo "$(keeper) $(cat "$M/a.txt")"; "$B" upgrade "$M" 2>&1 | grep -o 'supervise=off'
        "$B" -u "$M"; "$B" -o rw,supervise=off "$S" "$M"; echo "$(keeper) $(cat "$M/a.txt")"; "$B" -u "$M"
        "$B" "$S" "$M"; K=$(keeper); P=$(serving); kill -TERM $P; for i in $(seq 600); do [ -d /proc/$K ] || break; sleep .05; done
        mountpoint -q "$M" || echo ended
        """, scratch)
      #expect(lines == [" a", "supervise=off", " a", "ended"])
    }
  }
}
