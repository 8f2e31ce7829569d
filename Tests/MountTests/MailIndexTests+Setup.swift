import TestSupport
import Testing

extension MailIndexTests {
  /// A mailbox of numbered messages, and a cache folder of its own.
  struct Setup {
    let scratch: MountScratch
    let count: Int
    /// The approximate size of a message, in bytes.
    let size: Int
    var archive: String { scratch.source + "/a.mbox" }
    var cache: String { scratch.path + "/cache" }
    var index: String { cache + "/ffmount/index.sqlite" }
    var environment: [String: String] { ["XDG_CACHE_HOME": cache] }

    func make(_ count: Int, first: Int = 0, at path: String? = nil, size: Int? = nil) async throws {
      try await script("many_mails.py", "make", "\(count)", "\(size ?? self.size)", path ?? archive, "\(first)")
    }

    /// Checks that a mount shows the first `count` messages.
    func check(_ mount: MountProcess, _ count: Int? = nil, size: Int? = nil) async throws {
      try await script(
        "many_mails.py", "check", "\(count ?? self.count)", "\(size ?? self.size)",
        mount.mountpoint + "/a.mbox.messages")
    }

    /// Mounts and checks; returns how many bytes the daemon has read.
    @discardableResult
    func mountAndCheck(_ count: Int? = nil, size: Int? = nil) async throws -> Int {
      try await withMount(scratch, environment: environment) { mount in
        let listed = try await shell("ls -U \"$1/a.mbox.messages\" | wc -l", mount.mountpoint)
        #expect(listed.text == "\(count ?? self.count)\n", "\(listed.errors)")
        let bytes = try await bytesRead(by: mount)
        try await check(mount, count, size: size)
        return bytes
      }
    }

    func bytesRead(by mount: MountProcess) async throws -> Int {
      let said = try await shell("sed -n 's/^rchar: //p' /proc/$1/io", "\(mount.daemon.pid)")
      return Int(said.text.filter(\.isNumber)) ?? 0
    }

    /// Waits until a change of a file must be visible in its time.
    func settle() async throws { try await Task.sleep(for: .milliseconds(60)) }
  }
}
