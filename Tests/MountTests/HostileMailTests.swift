import TestSupport
import Testing

/// Damaged and malicious mailboxes.
@Suite(.serialized, .timeLimit(.minutes(5))) struct HostileMailTests {
  /// Checks the daemon's peak memory, in MiB.
  private func checkMemory(_ mount: MountProcess, atMost limit: Int = 60) async throws {
    guard Sanitizer.name == nil else {
      skipped("a sanitizer's own memory hides the daemon's")
      return
    }
    let said = try await shell("sed -n 's/^VmHWM://p' /proc/$1/status", "\(mount.daemon.pid)")
    let peak = Int(said.text.filter(\.isNumber)) ?? .max
    #expect(peak <= limit << 10, "\(peak) KiB")
  }

  @Test(arguments: ["cut", "changed"]) func undamagedMessagesAreReadCorrectly(_ damage: String) async throws {
    try await withScratch { scratch in
      let truth = scratch.path + "/truth"
      try await script("hostile_mail.py", "make", damage, TestExtent.isFull ? "1000" : "150", scratch.source, truth)
      try await withMount(scratch, options: ["-o", "views=-pdf:-as-pdf"]) { mount in
        try await script("hostile_mail.py", "check", mount.mountpoint, truth)
        try await checkMemory(mount)
      }
    }
  }

  static let shapes =
    !TestExtent.isFull
    ? [
      "empty 30000", "sparse 20000000", "header 100000000", "subject 20000000", "headers 300000", "nested 10000",
      "messages 1000", "parts 20000", "line 10000000", "html 1000000", "words 20000000",
    ]
    : [
      "empty 1000000", "sparse 3000000000", "header 100000000", "subject 100000000", "headers 1000000", "nested 10000",
      "messages 10000", "parts 100000", "line 100000000", "html 4000000", "words 100000000",
    ]

  @Test(arguments: shapes) func messagesOfExtremeShapeAreShown(_ shape: String) async throws {
    try await withScratch { scratch in
      try await script("hostile_mail.py", "shape", shape, scratch.source)
      try await withMount(scratch) { mount in
        try await script("hostile_mail.py", "look", shape, mount.mountpoint)
        // Very many parts are each known by name.
        try await checkMemory(mount, atMost: shape == "parts 100000" ? 100 : 60)
      }
    }
  }
}
