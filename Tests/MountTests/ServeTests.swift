import TestSupport
import Testing

/// `ffmount serve`, by clients that are programs of their own.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ServeTests {
  private static let program = MountProcess.program("ffserve")

  /// A client that knows no more than the page Serve says.
  @Test func serverProvidesFilesViewsSearchesArchivesAndWebDAV() async throws {
    try await expectDone("serve_api.py", Self.program, limit: 60)
  }

  /// Out of what is served, past the token, in the way of others.
  @Test func attacksAreRefused() async throws {
    try await withScratch { scratch in
      let result = try await script("serve_attacks.py", Self.program, scratch.path, limit: 60)
      #expect(result.lines.count == 1 && result.lines[0].hasPrefix("tried "), "\(result.text)")
    }
  }

  /// A tree that clients change, and one that they may not.
  @Test func webDAVChangesTheTreeByItsRules() async throws {
    try await expectDone("serve_writing.py", Self.program, limit: 60)
  }

  /// Users who differ in their rights.
  @Test func usersSeeNothingOfEachOthers() async throws {
    try await expectDone("serve_accounts.py", Self.program, limit: 100)
  }

  /// Certificates and tokens that are replaced while the server runs.
  @Test func changedSettingsTakeEffect() async throws {
    try await expectDone("serve_reload.py", Self.program, limit: 60)
  }

  /// Requests on streams of one connection.
  @Test func http2IsServed() async throws {
    try await expectDone("serve_streams.py", Self.program, limit: 100)
  }

  /// Guesses from many addresses, a source that hangs, a full disk.
  @Test(.enabled(if: MountScratch.isRoot && MountScratch.exists("/dev/fuse"), "needs root and /dev/fuse"))
  func serverResourcesAreSharedFairly() async throws {
    try await withScratch { scratch in
      let path = MountScratch.package + "/Tests/Scripts/serve_limits.py"
      let result = try await shell(
        "exec unshare -nm \"$@\"", MountScratch.python, path, Self.program, scratch.path, limit: 60)
      #expect(result.lines == ["done"], "\(result.text)")
    }
  }

  @Test func serveCommandExecutesTheServer() async throws {
    try await withScratch { scratch in
      try scratch.write("a.txt", "a")
      let result = try await shell(
        """
        "$1" serve "$2" --port 0 --token long-enough > "$3/out" & server=$!
        for round in $(seq 600); do grep -q Stop "$3/out" && break; sleep .05; done
        url=$(grep -o 'http.*token=.*' "$3/out")
        curl -s -o /dev/null -w '%{http_code}\\n' "${url%%\\?*}"
        curl -s -o /dev/null -w '%{http_code}\\n' "$url"
        readlink /proc/$server/exe | grep -o '[^/]*$'
        kill $server; wait $server; echo "ended $?"
        "$1" serve "$2/nothing" 2>&1; "$1" serve "$2" --port 70000 2>&1; "$1" serve "$2" --tls only 2>&1
        "$1" serve "$2" --token-file "$3" 2>&1; "$1" serve "$2" --host '' 2>&1
        "$1" serve "$2" -o rw,idle=5 2>&1; "$1" serve "$2" -o allow_root 2>&1
        """, MountProcess.binary, scratch.source, scratch.path)
      #expect(result.lines.prefix(4) == ["401", "200", "ffserve", "ended 0"])
      let refusals = result.lines.dropFirst(4).joined(separator: "\\n")
      let words = [
        "cannot show", "expected 0 to 65535", "--tls", "give the path of a file", "--host: expected an address",
        "-o idle is for a mountpoint", "-o allow_root is for a mountpoint",
      ]
      for word in words { #expect(refusals.contains(word)) }
    }
  }
}
