import TestSupport
import Testing

/// Mailboxes that are damaged, or made to harm.
@Suite(.serialized, .timeLimit(.minutes(2))) struct HostileMailTests {
  /// In KiB: what the daemon may ever have had in memory.
  private static let memoryLimit = 60 << 10

  private func checkMemory(_ mount: MountProcess) async throws {
    guard Sanitizer.name == nil else { return }
    let said = try await shell("sed -n 's/^VmHWM://p' /proc/$1/status", "\(mount.daemon.pid)")
    let peak = Int(said.text.filter(\.isNumber)) ?? .max
    #expect(peak <= Self.memoryLimit, "\(peak) KiB")
  }

  @Test(arguments: ["cut", "changed"]) func undamagedMessagesAreRight(_ damage: String) async throws {
    try await withScratch { scratch in
      let truth = scratch.path + "/truth"
      try await script("hostile_mail.py", "make", damage, "1000", scratch.source, truth)
      try await withMount(scratch) { mount in
        try await script("hostile_mail.py", "check", mount.mountpoint, truth)
        try await checkMemory(mount)
      }
    }
  }

  static let shapes = [
    "empty 100000", "sparse 3000000000", "header 100000000", "subject 100000000", "headers 1000000", "nested 10000",
    "messages 1000", "parts 100000", "line 100000000", "html 4000000", "words 100000000",
  ]

  @Test(arguments: shapes) func shapeDoesNotMatter(_ shape: String) async throws {
    try await withScratch { scratch in
      try await script("hostile_mail.py", "shape", shape, scratch.source)
      try await withMount(scratch) { mount in
        try await script("hostile_mail.py", "look", shape, mount.mountpoint)
        try await checkMemory(mount)
      }
    }
  }
}
