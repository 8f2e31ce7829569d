import TestSupport
import Testing

/// Reads of any byte of any entry, in any order, by any number of readers.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ZipReadTests {
  @Test(arguments: ["deflated", "stored"]) func largeMemberIsReadByAnyAccessPattern(_ method: String) async throws {
    let size = "\(64 << 20)"
    try await withScratch { scratch in
      let name = "m.\(method).zip"
      try await script("read_anyhow.py", "make", "5", size, "\(scratch.source)/\(name)")
      for hows in [
        ["sequential", "random", "backwards"], ["random", "mmap"], ["parallel"], ["threads", "backwards"],
      ] {
        // Each list starts with empty caches, including the page cache.
        try await withMount(scratch) { mount in
          for how in hows {
            try await script("read_anyhow.py", how, "5", size, "\(mount.mountpoint)/\(name).contents/m")
          }
        }
      }
    }
  }

  @Test(arguments: [1, 4096, 262_143, 262_144, 262_145, 1_048_576, 1_048_577, 3_145_728])
  func membersOfBoundarySizesAreRead(_ size: Int) async throws {
    try await withScratch { scratch in
      let name = "m.deflated.zip"
      try await script("read_anyhow.py", "make", "9", "\(size)", "\(scratch.source)/\(name)")
      try await withMount(scratch) { mount in
        for how in ["random", "sequential", "mmap", "threads"] {
          try await script("read_anyhow.py", how, "9", "\(size)", "\(mount.mountpoint)/\(name).contents/m")
        }
        let past = try await run("tail", "-c", "+\(size + 1)", "\(mount.mountpoint)/\(name).contents/m")
        #expect(past.status == 0)
        #expect(past.bytes.isEmpty)
      }
    }
  }
}
