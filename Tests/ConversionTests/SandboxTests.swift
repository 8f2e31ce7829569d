import Foundation
import TestSupport
import Testing

@testable import Sandbox

/// What a compromised worker can do: `ffconvert --check-sandbox`, as the other workers, starts one as the daemon does, and it makes
/// attempts.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SandboxTests {
  private static func path(of program: String) -> String {
    URL(fileURLWithPath: MountProcess.binary).deletingLastPathComponent().appendingPathComponent(program).path
  }
  private static let without = [MountScratch.python, MountScratch.package + "/Tests/Scripts/without.py"]

  /// The commands to start it with: as the user who runs the tests, and if that is root as an ordinary user, too.
  static let starters: [[String]] =
    [[]] + (MountScratch.isRoot ? [["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"]] : [])

  /// The result of each attempt, by its name.
  private func attempts(_ words: [String], by starter: [String] = [], of program: String = "ffconvert") async throws
    -> (
      status: Int32, outcomes: [String: String], errors: String
    )
  {
    let result = try await MountChild(starter + [Self.path(of: program), "--check-sandbox"] + words).wait(atMost: 40)
    let pairs = result.lines.compactMap { line -> (String, String)? in
      let parts = line.split(separator: ":", maxSplits: 1)
      return parts.count == 2 ? (String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces)) : nil
    }
    return (result.status, Dictionary(pairs) { first, _ in first }, result.errors)
  }

  @Test(arguments: starters, ["ffconvert", "ffscan", "ffmedia", "ffoffice", "fflayout", "ffarchive", "ffdisk"])
  func everyEscapeIsRefused(_ starter: [String], of program: String) async throws {
    let found = try await attempts([], by: starter, of: program)
    #expect(found.status == 0)
    #expect(found.outcomes.count > 50)
    #expect(found.outcomes.filter { $0.value == "allowed" } == [:])
    #expect(found.outcomes["be root"] == "no" && found.outcomes["hold a capability"] == "none")
    #expect(found.errors.contains("seccomp"))
  }

  /// Without a sandbox all attempts succeed: so a refusal is due to a layer of it.
  @Test(.enabled("needs root") { MountScratch.isRoot }) func escapesSucceedWithoutSandbox() async throws {
    let found = try await attempts(["none"], by: Self.without + ["namespaces", "--"])
    let refused = found.outcomes.filter { $0.value != "allowed" }.keys.sorted()
    // These are limits beside the layers; `without` itself refuses namespaces.
    let others = [
      "gain rights by a program", "have more memory than a worker may have", "lift its own limits", "make a namespace",
      "write more than a file may have",
    ]
    #expect(refused.filter { !others.contains($0) } == [], "\(found.outcomes)")
    #expect(found.status == 1)
  }

  /// The calls that seccomp alone must refuse.
  static let calls = [
    "connect to a socket by its path", "connect to a socket by its name", "connect to a TCP port", "send a signal",
    "send a thread a signal", "have signals sent", "get hold of a process", "trace a process",
    "read a process's memory", "see a process's limits", "set a process's limits", "see a process's processors",
    "set a process's processors", "slow a process down", "see how busy a process is", "lift its own limits",
    "set its own limits",
    "take room on a disk", "make a file in memory", "have memory that is shared", "have memory that others can name",
    "create a file", "write to a file", "change a file's mode", "make a folder", "link a file", "rename a file",
    "remove a file", "type on a terminal", "start a process", "use keys", "load a program", "measure others",
    "use a ring of calls", "handle page faults", "become root", "change its root", "mount", "enter a namespace",
    "make a namespace", "become a program",
  ]

  @Test(arguments: starters) func seccompAloneRefusesEveryCall(_ starter: [String]) async throws {
    let found = try await attempts(["seccomp"], by: starter)
    for name in Self.calls { #expect(found.outcomes[name] == "Operation not permitted", "\(name)") }
    // seccomp cannot distinguish paths.
    #expect(found.outcomes["open a file"] == "allowed")
  }

  @Test(arguments: starters) func landlockAloneRefusesFiles(_ starter: [String]) async throws {
    let found = try await attempts(["landlock"], by: Self.without + ["namespaces", "--"] + starter)
    for name in [
      "open a file", "open /etc/passwd", "list a folder", "create a file", "write to a file", "remove a file",
      "connect to a TCP port", "connect to a socket by its name", "send a signal",
    ] { #expect(found.outcomes[name].map { $0 != "allowed" } ?? false, "\(name): \(found.outcomes)") }
    #expect(found.outcomes["see a file's size"] == "allowed")
  }

  @Test(arguments: starters) func namespacesAloneHideFilesAndProcesses(_ starter: [String]) async throws {
    let found = try await attempts(["namespaces"], by: starter)
    for name in [
      "open a file", "open /etc/passwd", "open a file in /proc", "see a file's size", "see where a link leads",
      "query a file's permissions", "see how full a disk is",
    ] { #expect(found.outcomes[name] == "No such file or directory", "\(name)") }
    for name in ["send a signal", "send a thread a signal", "trace a process", "see a process's limits"] {
      #expect(found.outcomes[name] == "No such process", "\(name)")
    }
    for name in ["connect to a socket by its name", "connect to a TCP port"] {
      #expect(found.outcomes[name].map { $0 != "allowed" } ?? false, "\(name)")
    }
  }

  /// Without one of these, no file is converted unless the user wants that.
  @Test func enclosureIsIncompleteWithoutRequiredLayers() {
    for number in 0..<16 {
      var enclosure = Enclosure()
      for (index, layer) in SandboxLayer.allCases.enumerated() where number >> index & 1 == 1 {
        enclosure.standing.insert(layer)
      }
      let standing = enclosure.standing
      let isComplete =
        standing.isSuperset(of: [.seccomp, .user]) && (standing.contains(.landlock) || standing.contains(.namespaces))
      #expect((enclosure.gap == nil) == isComplete, "\(standing): \(enclosure.gap ?? "")")
    }
  }

  /// Each layer that a system may lack, and what the others still refuse.
  @Test(arguments: ["namespaces", "landlock"], starters) func sandboxHoldsWithOneLayerMissing(
    _ wall: String, _ starter: [String]
  ) async throws {
    let found = try await attempts([], by: Self.without + [wall, "--"] + starter)
    let metadata: Set = [
      "see a file's size", "see where a link leads", "query a file's permissions", "see how full a disk is",
    ]
    let allowed = found.outcomes.filter { $0.value == "allowed" }.map(\.key)
    #expect(Set(allowed).subtracting(wall == "namespaces" ? metadata : []) == [])
    #expect(!found.errors.contains(wall), "\(found.errors)")
  }
}
