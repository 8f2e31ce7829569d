import TestSupport
import Testing

/// Tables and JSON through a mount.
@Suite(.serialized, .timeLimit(.minutes(5))) struct TableTests {
  /// Determining the size takes several requests, each of which continues where the last one ended.
  @Test func largeTextOfASmallFileOpens() async throws {
    try await withScratch { scratch in
      let count = 1_100_000
      let open = String(repeating: "[", count: 33)
      let close = String(repeating: "]", count: 33)
      try scratch.write("a.json", open + String(repeating: "1,", count: count) + "1" + close)
      try await withMount(scratch) { mount in
        let path = mount.mountpoint + "/a.json.as-txt"
        let said = try await shell("exec 3<\"$1\"; stat -L -c %s /dev/fd/3; head -c 4 <&3", path, limit: 60)
        // Indentation is limited to 64.
        let size = 2 * (0..<33).reduce(0) { $0 + 2 * $1 + 2 } + (count + 1) * 67 - 1
        #expect(said.text == "\(size)\n[\n  ", "\(said.errors)")
      }
    }
  }
}
