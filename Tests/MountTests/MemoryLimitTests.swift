import TestSupport
import Testing

/// The daemon's memory is limited by `-o memory=`, whatever archives contain.
@Suite(.serialized, .timeLimit(.minutes(10))) struct MemoryLimitTests {
  /// Writes an archive of empty entries, `count` in folders of `depth`, into another one, deflated.
  private static let nested = """
    import io, struct, sys, zipfile
    path, count, depth = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    head = struct.pack("<IHHHHHIIIHH", 0x04034b50, 20, 0, 0, 0, 33, 0, 0, 0, 1, 0) + b"x"
    inner, central = io.BytesIO(head), io.BytesIO()
    for number in range(count):
        name = b"%07d/" % number * (depth > 0) + b"a/" * depth + b"%07d" % number
        central.write(struct.pack("<IHHHHHHIIIHHHHHII", 0x02014b50, 20, 20, 0, 0, 0, 33, 0, 0, 0, len(name), 0, 0, 0, 0, 0, 0) + name)
    end = struct.pack("<IHHHHIIH", 0x06054b50, 0, 0, count % 65536, count % 65536, central.tell(), len(head), 0)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as outer:
        outer.writestr("inner.zip", head + central.getvalue() + end)
    """

  private func write(_ name: String, _ scratch: MountScratch, count: Int, depth: Int) async throws {
    let child = try MountChild(
      [MountScratch.python, "-c", Self.nested, "\(scratch.source)/\(name)", "\(count)", "\(depth)"])
    let made = try await child.wait(atMost: 60)
    #expect(made.status == 0, "\(made.errors)")
  }

  @Test func archivesWithTooManyNamesCauseOneErrorEach() async throws {
    try await withScratch { scratch in
      try await write("a-many.zip", scratch, count: 150_000, depth: 0)
      try await write("b-deep.zip", scratch, count: 300, depth: 500)
      // Six that fit individually, but not together.
      for number in 0..<6 { try await write("c\(number).zip", scratch, count: 30_000, depth: 0) }
      try await write("d-deep.zip", scratch, count: 300, depth: 500)
      try await write("e-good.zip", scratch, count: 25_000, depth: 0)
      try await withMount(scratch, options: ["-o", "memory=8M"]) { mount in
        func peak() async throws -> Int {
          let said = try await shell("sed -n 's/^VmHWM://p' /proc/$1/status", "\(mount.daemon.pid)")
          return Int(said.text.filter(\.isNumber)) ?? .max
        }
        let before = try await peak()
        for _ in 0..<2 {
          let lines = "cd \"$1\" && LC_ALL=C.UTF-8 find . 2>&1 | grep error$ | sort"
          let found = try await shell(lines, mount.mountpoint, limit: 100)
          #expect(
            found.text == """
              find: ‘./a-many.zip.contents/inner.zip.contents’: Input/output error
              find: ‘./b-deep.zip.contents/inner.zip.contents’: Input/output error
              find: ‘./d-deep.zip.contents/inner.zip.contents’: Input/output error

              """)
        }
        let good = try await shell("ls \"$1/e-good.zip.contents/inner.zip.contents\" | wc -l", mount.mountpoint)
        #expect(good.text == "25000\n")
        let error = try await shell(
          "getfattr --only-values -n user.ffmount.error \"$1/b-deep.zip.contents/inner.zip.contents\"", mount.mountpoint
        )
        #expect(
          error.text
            == "b-deep.zip.contents/inner.zip: it has more names than fit in 8 MiB of memory (-o memory=)")
        let after = try await peak()
        // The kernel's 200,000 nodes add to the trees and caches; without the limit it is twice as much.
        if Sanitizer.name == nil { #expect(after <= before + (8 + 64) << 10, "\(before), then \(after) KiB") }
      }
    }
  }
}
