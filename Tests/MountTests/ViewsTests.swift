import Foundation
import TestSupport
import Testing

/// `NAME.views/`: a mailbox's messages, sorted.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ViewsTests {
  private static let generator = sharedCorpus?.deletingLastPathComponent().appendingPathComponent("tools/genmbox.py")
    .path

  /// From the generator that reports what it has written.
  @Test(
    .enabled("needs the generator beside the project") {
      generator.map { FileManager.default.isReadableFile(atPath: $0) } ?? false
    },
    arguments: ["classic", "takeout", "thunderbird"])
  func mailViewsHaveExpectedContent(_ style: String) async throws {
    try await withScratch { scratch in
      let archive = scratch.path + "/a.mbox"
      let generator = try #require(Self.generator)
      let made = try await run(
        MountScratch.python, generator, archive, "--n", "100", "--seed", "\(style.count)", "--style", style, "--attach",
        "0.2")
      #expect(made.status == 0, "\(made.errors)")
      _ = try await run("mv", archive, scratch.source + "/a.mbox")
      let environment = ["XDG_CACHE_HOME": scratch.path + "/cache"]
      // The second mount takes it from the index.
      for _ in 0..<(style == "takeout" ? 2 : 1) {
        try await withMount(scratch, options: ["-o", "views=-pdf:-as-pdf"], environment: environment) { mount in
          let shown = mount.mountpoint + "/a.mbox"
          try await script("check_views.py", shown + ".views", shown + ".messages", archive + ".truth.jsonl")
        }
      }
    }
  }
}
