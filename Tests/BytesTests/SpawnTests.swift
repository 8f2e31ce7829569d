import Bytes
import Files
import Foundation
import Glibc
import TestSupport
import Testing

@Suite struct SpawnTests {
  /// Runs a shell's lines. Returns what they wrote to the output.
  private func output(
    _ lines: String, inheritsVariables: Bool = false, _ descriptors: KeyValuePairs<Int32, Int32?>? = nil
  ) async throws -> String {
    try await withScratch { scratch in
      let file = unsafe open(scratch.path + "/output", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      try #require(file >= 0)
      defer { close(file) }
      let child = try spawn(
        "/bin/sh", ["sh", "-c", lines], inheritsVariables: inheritsVariables,
        descriptors: descriptors ?? [0: nil, 1: file, 2: nil], flags: 0)
      var status: Int32 = 0
      #expect(unsafe waitpid(child, &status, 0) == child && status == 0)
      return try String(contentsOfFile: scratch.path + "/output", encoding: .utf8)
    }
  }

  /// A worker that hostile bytes control must not have files of this process, even those that are not closed by execve(2).
  @Test func otherDescriptorsAreClosed() async throws {
    let inherited = try #require(Optional(fcntl(2, F_DUPFD, 300)))
    defer { close(inherited) }
    #expect(fcntl(inherited, F_GETFD) == 0)
    let listed = try await output("cd /proc/self/fd; for f in *; do readlink $f >/dev/null && echo $f; done; :")
    #expect(Set(listed.split(separator: "\n")).isSubset(of: ["0", "1", "2", "10", "255"]) && listed.contains("1"))
  }

  @Test func listedDescriptorsAreThere() async throws {
    try await withScratch { scratch in
      let file = unsafe open(scratch.path + "/output", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      defer { close(file) }
      let child = try spawn(
        "/bin/sh", ["sh", "-c", "readlink /proc/self/fd/0 >&4"],
        inheritsVariables: false, descriptors: [0: nil, 1: nil, 2: nil, 4: file], flags: 0)
      var status: Int32 = 0
      #expect(unsafe waitpid(child, &status, 0) == child && status == 0)
      let text = try String(contentsOfFile: scratch.path + "/output", encoding: .utf8)
      #expect(text == "/dev/null\n")
    }
  }

  @Test func variablesAndSignalsAreNotInherited() async throws {
    unsafe setenv("SPAWN_TEST", "secret", 1)
    defer { unsafe unsetenv("SPAWN_TEST") }
    #expect(try await !output("tr '\\0' ' ' </proc/self/environ").contains("secret"))
    #expect(try await output("tr '\\0' ' ' </proc/self/environ", inheritsVariables: true).contains("SPAWN_TEST=secret"))
    let states = try await output("grep -E 'SigBlk|SigIgn' /proc/self/status | cut -f 2").split(separator: "\n")
    // The C library keeps signals 32 and 33 for itself.
    let known = states.compactMap { UInt64($0, radix: 16).map { $0 & ~0x1_8000_0000 } }
    #expect(known == [0, 0], "\(states)")
  }

  @Test func missingProgramIsAFault() {
    #expect(throws: Fault.self) {
      try spawn("/absent", ["absent"], inheritsVariables: false, descriptors: [0: nil], flags: 0)
    }
  }
}
