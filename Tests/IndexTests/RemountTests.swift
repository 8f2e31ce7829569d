import Glibc
import TestSupport
import Testing

/// Data stored by one mount is used by the next one, through the program itself.
@Suite(.timeLimit(.minutes(10)), .serialized) struct RemountTests {
  /// A 40 MiB entry, and the same in a nested ZIP.
  private static let archive = """
    import random, sys, zipfile
    random.seed(3)
    words = [random.randbytes(random.randrange(2, 12)) for _ in range(3000)]
    plain = b"".join(b"".join(random.choices(words, k=9000)) for _ in range(760))[:40 << 20]
    open(sys.argv[1] + "/plain", "wb").write(plain)
    with zipfile.ZipFile(sys.argv[1] + "/source/inner.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as inner:
        inner.writestr("big", plain)
    with zipfile.ZipFile(sys.argv[1] + "/source/a.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as outer:
        outer.writestr("big", plain)
        outer.write(sys.argv[1] + "/source/inner.zip", "inner.zip", zipfile.ZIP_STORED)
    """

  /// Compares 40 random reads with the plain file; prints their duration.
  private static let reads = """
    import os, random, sys, time
    plain = os.open(sys.argv[1], os.O_RDONLY)
    shown = os.open(sys.argv[2], os.O_RDONLY)
    size = os.fstat(plain).st_size
    assert os.fstat(shown).st_size == size
    for _ in range(40):
        at = random.randrange(size)
        assert os.pread(shown, 65536, at) == os.pread(plain, 65536, at), at
    """

  private func withArchive(_ body: (MountScratch, _ cache: String) async throws -> Void) async throws {
    try await withScratch { scratch in
      let made = try await run(MountScratch.python, "-c", Self.archive, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      try await body(scratch, scratch.path + "/cache")
    }
  }

  private func checkReads(_ scratch: MountScratch, _ shown: String) async throws {
    let result = try await run(
      MountScratch.python, "-c", Self.reads, scratch.path + "/plain", scratch.mountpoint + "/" + shown)
    #expect(result.status == 0, "\(result.errors)")
  }

  private func count(_ cache: String) async throws -> Int? {
    let result = try await shell("sqlite3 \"$1\" 'SELECT count(*) FROM record'", cache + "/ffmount/index.sqlite")
    return Int(result.text.filter(\.isNumber))
  }

  @Test func randomReadsAfterRemountAreCorrect() async throws {
    try await withArchive { scratch, cache in
      let names = ["a.zip.contents/big", "a.zip.contents/inner.zip.contents/big"]
      let environment = ["XDG_CACHE_HOME": cache]
      try await withMount(scratch, environment: environment) { _ in
        let result = try await shell("cd \"$1\" && cat \"$2\" \"$3\" | md5sum", scratch.mountpoint, names[0], names[1])
        #expect(result.status == 0)
      }
      // Each of the forty except the first starts at a point.
      #expect(try await count(cache) == 78)
      for _ in 0..<2 {
        try await withMount(scratch, environment: environment) { _ in
          for name in names { try await checkReads(scratch, name) }
        }
      }
      // Damaged while it is not in use.
      let file = cache + "/ffmount/index.sqlite"
      _ = try await shell("dd if=/dev/urandom of=\"$1\" bs=4096 seek=2 count=60 conv=notrunc", file)
      try await withMount(scratch, environment: environment) { _ in
        for name in names { try await checkReads(scratch, name) }
      }
      // The cache must not be below the mountpoint, and a missing home must not be an error.
      try await withMount(scratch, environment: ["XDG_CACHE_HOME": "", "HOME": ""]) { _ in
        try await checkReads(scratch, names[0])
      }
    }
  }

  @Test func indexSurvivesKillDuringWrite() async throws {
    try await withArchive { scratch, cache in
      for round in 0..<8 {
        try await withMount(scratch, environment: ["XDG_CACHE_HOME": cache], endsWith: nil) { mount in
          let reader = try MountChild(["cat", scratch.mountpoint + "/a.zip.contents/big"])
          try await Task.sleep(for: .milliseconds(20 + 15 * round))
          mount.daemon.send(SIGKILL)
          for _ in 0..<400 where mount.daemon.isRunning { try await Task.sleep(for: .milliseconds(5)) }
          reader.killNow()
        }
        let file = cache + "/ffmount/index.sqlite"
        let result = try await shell("test ! -e \"$1\" || sqlite3 \"$1\" 'PRAGMA integrity_check'", file)
        #expect(result.text.isEmpty || result.text == "ok\n", "\(result.text)\(result.errors)")
        try await withMount(scratch, environment: ["XDG_CACHE_HOME": cache]) { _ in
          try await checkReads(scratch, "a.zip.contents/big")
        }
      }
      #expect(try await count(cache) ?? 0 > 0)
    }
  }

  @Test func twoMountsShareTheIndex() async throws {
    try await withArchive { scratch, cache in
      try await withScratch { other in
        let environment = ["XDG_CACHE_HOME": cache]
        try await withMount(scratch, environment: environment) { _ in
          try await withMount(scratch.source, at: other.mountpoint, environment: environment) { _ in
            let result = try await shell(
              "cat \"$1/$3\" | md5sum & cat \"$2/$3\" | md5sum; wait", scratch.mountpoint, other.mountpoint,
              "a.zip.contents/big")
            #expect(Set(result.lines).count == 1 && result.lines.count == 2)
          }
        }
        #expect(try await count(cache) == 39)
        try await withMount(scratch.source, at: other.mountpoint, environment: environment) { _ in }
      }
    }
  }
}
