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
}
