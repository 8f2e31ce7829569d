import TestSupport
import Testing

/// What the commands print on a terminal.
extension MountCommandTests {
  /// Colours on a terminal alone, and none with NO_COLOR; lists as wide as the terminal.
  @Test(.enabled(if: MountScratch.has("script"), "needs script")) func coloursAndWidthFitTheTerminal() async throws {
    func on(_ line: String, _ environment: [String: String]) async throws -> String {
      let base = ["TERM": "xterm", "NO_COLOR": ""]
      return try await MountChild(
        ["script", "-qec", line, "/dev/null"], environment: base.merging(environment) { _, given in given }
      ).wait(atMost: 30).text
    }
    let doctor = "\(MountProcess.binary) doctor"
    #expect(try await on(doctor, [:]).contains("\u{1b}[32mok"))
    for (line, environment) in [(doctor, ["NO_COLOR": "1"]), (doctor, ["TERM": "dumb"]), (doctor + " | cat", [:])] {
      let said = try await on(line, environment)
      #expect(said.contains("versions") && !said.contains("\u{1b}"), "\(said)")
    }
    for columns in [80, 44] {
      let said = try await on("stty cols \(columns); \(MountProcess.binary) formats; \(doctor)", ["NO_COLOR": "1"])
      let long = said.split(whereSeparator: \.isNewline).filter { $0.count > columns && $0.contains(" ") }
      // A path is one word, and a command with one is not broken: other tests leave mounts to be mended.
      #expect(long.allSatisfy { $0.split(separator: " ").contains { $0.count > columns / 2 } }, "\(long)")
    }
  }

  /// The pages of a PDF are counted before they are made.
  @Test(
    .enabled(
      if: MountScratch.has("script") && MountScratch.exists(MountProcess.program("ffpages")),
      "needs script and ffpages"))
  func barOfConversionsEndsAtItsTotal() async throws {
    try await withScratch { scratch in
      try await script("make_documents.py", scratch.source)
      _ = try await shell(
        "cd \"$1\" && for n in 1 2 3 4 5; do cp report.pdf $n.pdf; done && rm photo.png", scratch.source)
      let said = try await MountChild(
        ["script", "-qec", "stty cols 160; \(MountProcess.binary) index --conversions \(scratch.source)", "/dev/null"],
        environment: ["XDG_CACHE_HOME": scratch.path + "/cache", "TMPDIR": scratch.path]
      ).wait(atMost: 50).text
      let counts = said.matches(of: /(\d+) of (\d+) files/).compactMap { match -> (Int, Int)? in
        guard let done = Int(match.1), let total = Int(match.2) else { return nil }
        return (done, total)
      }
      // Six documents of twelve pages, and a smaller version of each.
      #expect(counts.allSatisfy { $0.0 <= $0.1 && $0.1 == 78 }, "\(said)")
      #expect(said.contains(": 78 files converted in "), "\(said)")
    }
  }
}
