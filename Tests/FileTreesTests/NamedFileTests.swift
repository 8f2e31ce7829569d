import FileTrees
import Foundation
import SystemPackage
import TestSupport
import Testing

/// Saving where files cannot be without a name, such as in a mount.
@Suite(.timeLimit(.minutes(5))) struct NamedFileTests {
  @Test func failedSaveLeavesNoFile() async throws {
    struct Failed: Error {}
    try await withScratch { scratch in
      try await withMount(scratch, options: ["-o", "rw"]) { mount in
        func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: scratch.source).sorted() }
        let tree = try FileTrees.FileTree(at: FilePath(mount.mountpoint))
        try await tree.save(Array("old".utf8), to: "file")
        for name in ["file", "new"] as [FilePath] {
          let (chunks, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
          continuation.yield([1])
          continuation.finish(throwing: Failed())
          await #expect(throws: Failed.self) { try await tree.save(chunks, to: name) }
          #expect(try names() == ["file"])
        }
        #expect(try await tree.text("file") == "old")
        try await tree.save(Array("new".utf8), to: "file")
        #expect(try await tree.text("file") == "new")
        #expect(try names() == ["file"])
        await tree.close()
      }
    }
  }
}
