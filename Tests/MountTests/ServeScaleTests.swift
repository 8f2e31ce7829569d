import TestSupport
import Testing

/// Several servers on one source and one cache, behind nginx and HAProxy.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ServeScaleTests {
  /// As the page says, with one that is killed and one that is told to end.
  @Test func loadBalancedServersAreInterchangeable() async throws {
    try await withScratch { scratch in
      _ = try await shell("chmod 700 \"$1\" && rm -rf \"$1/source\"", scratch.path)
      let page = MountScratch.package + "/Sources/Programs/ffmount/ffmount.docc/ServeScale.md"
      let result = try await script(
        "serve_scale.py", MountProcess.program("ffserve"), scratch.path, page, limit: 150)
      #expect(result.lines.last == "done", "\(result.text)")
    }
  }

  @Test func invalidServerOptionsAreReported() async throws {
    try await withScratch { scratch in
      try scratch.write("a.txt", "a")
      try scratch.write("short", "1234")
      let result = try await shell(
        """
        serve="$1 $2 --port 0"
        $serve --proxy here 2>&1; $serve --proxy 10.0.0.0/33 2>&1; $serve --drain -1 2>&1
        $serve --token-file "$2/short" 2>&1; chmod 600 "$2/short"; $serve --token-file "$2/short" 2>&1
        $serve --token-file "$2/none" 2>&1
        $serve --token long-enough --token-file "$2/short" 2>&1
        mkdir -m 777 "$2/open"; chmod 777 "$2/open"; $serve -o shared_cache="$2/open" 2>&1
        $serve -o shared_cache=relative 2>&1
        """, MountProcess.program("ffserve"), scratch.source)
      let said = result.lines.filter { $0.hasPrefix("ffmount") || $0.hasPrefix("ffserve") || $0.hasPrefix("Error") }
      for words in [
        "--proxy here", "10.0.0.0/33", "--drain", "other users can read it", "expected 8 or more", "No such file",
        "exclude each other", "can be written to by other users", "an absolute path",
      ] {
        #expect(said.contains { $0.contains(words) }, "\(words): \(result.text) \(result.errors)")
      }
    }
  }
}
