import Foundation
import Glibc
import TestSupport
import Testing

/// The daemon, and signals.
extension CommandTests {
  /// The daemons that serve a mountpoint.
  private func daemons(_ mountpoint: String) async throws -> [Int32] {
    let found = try await shell(
      """
      for process in /proc/[0-9]*; do
        [ "$(cat "$process/comm")" = ffmount ] && tr '\\0' '\\n' <"$process/cmdline" | grep -qxF -e "$1" && echo "${process#/proc/}"
      done 2>/dev/null
      true
      """, mountpoint)
    return found.lines.compactMap { Int32($0) }
  }

  /// The daemon exits with its mount.
  func expectNoDaemon(_ mountpoint: String) async throws {
    var left = try await daemons(mountpoint)
    for _ in 0..<50 where !left.isEmpty {
      try await Task.sleep(for: .milliseconds(50))
      left = try await daemons(mountpoint)
    }
    #expect(left.isEmpty)
    for pid in left { _ = kill(pid, SIGKILL) }
  }

  private func withDaemon(
    _ words: [String], at mountpoint: String, _ body: (Int32) async throws -> Void
  ) async throws {
    let result = try await MountChild(words).wait(atMost: 20)
    do {
      #expect(result.status == 0, "\(result.errors)")
      #expect(result.text + result.errors == "")
      #expect(MountProcess.isMounted(mountpoint))
      let running = try await daemons(mountpoint)
      try #require(running.count == 1)
      try await body(running[0])
      await offThread { MountProcess.unmount(mountpoint) }
      try await expectNoDaemon(mountpoint)
    } catch {
      await offThread { MountProcess.unmount(mountpoint) }
      for pid in (try? await daemons(mountpoint)) ?? [] { _ = kill(pid, SIGKILL) }
      throw error
    }
  }

  @Test func backgroundStartReturnsWhenTheMountResponds() async throws {
    try await withScratch { scratch in
      try scratch.write("a.zip", ZipFixture(ZipFixtureEntry("in.txt", "inside")))
      // Relative paths and a link: the daemon changes to another folder.
      let words = [
        "/bin/bash", "-c", "cd \"$1\" && ln -s mnt there && exec \"$2\" source ./there", "bash", scratch.path,
        MountProcess.binary,
      ]
      let result = try await MountChild(words).wait(atMost: 20)
      #expect(result.status == 0)
      #expect(try await run("cat", scratch.mountpoint + "/a.zip.contents/in.txt").text == "inside")
      #expect(MountProcess.isMounted(scratch.mountpoint))
      await offThread { MountProcess.unmount(scratch.mountpoint) }
      #expect(!MountProcess.isMounted(scratch.mountpoint))
    }
  }

  @Test func daemonDetachesFromDirectoryAndTerminal() async throws {
    try await withScratch { scratch in
      try scratch.write("file", "x")
      try await withDaemon([MountProcess.binary, scratch.source, scratch.mountpoint], at: scratch.mountpoint) { pid in
        #expect(try await run("cat", scratch.mountpoint + "/file").text == "x")
        let facts = try await shell(
          "readlink /proc/$1/cwd /proc/$1/fd/0 /proc/$1/fd/1 /proc/$1/fd/2; ps -o sid= -p $1 | tr -d ' '", "\(pid)")
        #expect(facts.lines == ["/", "/dev/null", "/dev/null", "/dev/null", "\(pid)"])
      }
    }
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func signalEndsTheDaemon(_ signal: Int32) async throws {
    try await withScratch { scratch in
      try await withDaemon([MountProcess.binary, scratch.source, scratch.mountpoint], at: scratch.mountpoint) { pid in
        _ = kill(pid, signal)
        for _ in 0..<100 where MountProcess.isMounted(scratch.mountpoint) {
          try await Task.sleep(for: .milliseconds(50))
        }
        #expect(!MountProcess.isMounted(scratch.mountpoint))
      }
    }
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP], [false, true])
  func signalUnmountsInTheForeground(_ signal: Int32, withAnOpenFile: Bool) async throws {
    try await withScratch { scratch in
      try scratch.write("file", String(repeating: "x", count: 1 << 20))
      try await withMount(scratch) { mount in
        var reader: MountChild?
        if withAnOpenFile {
          reader = try MountChild([
            "/bin/bash", "-c", "exec <\"$1/file\"; head -c 10; sleep 30", "bash", mount.mountpoint,
          ])
          try await Task.sleep(for: .milliseconds(200))
        }
        mount.daemon.send(signal)
        let result = try await mount.daemon.wait(atMost: 10)
        #expect(result.status == 0)
        #expect(!mount.isMounted)
        reader?.killNow()
      }
      #expect(try await run("ls", scratch.mountpoint).text == "")
    }
  }

  /// A program of scripts may be started with none of the three; what it opens first must not take their numbers.
  @Test(arguments: ["<&-", "2>&-", "<&- >&- 2>&-"])
  func closedStandardDescriptorsAreTolerated(_ closed: String) async throws {
    try await withScratch { scratch in
      try scratch.write("plain.txt", "plain")
      for options in ["ro", "rw"] {
        let mounted = try await shell(
          "\"$1\" -o $4 \"$2\" \"$3\" \(closed)", MountProcess.binary, scratch.source, scratch.mountpoint, options)
        let shown = try await shell("cat \"$1/plain.txt\"", scratch.mountpoint)
        MountProcess.unmount(scratch.mountpoint)
        #expect(mounted.status == 0 && shown.text == "plain", "\(options): \(mounted.errors)\(shown.errors)")
      }
    }
  }
}
