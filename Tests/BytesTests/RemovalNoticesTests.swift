import Bytes
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Files

/// Notices of removed files that are open.
@Suite struct RemovalNoticesTests {
  private final class Cache: FileCache {
    let releases = Atomic<Int>(0)
    func releaseRemoved() { releases.add(1, ordering: .relaxed) }

    /// Returns whether a notice arrives. Blocks for up to `seconds`.
    func isTold(within seconds: Double = 10) -> Bool {
      for _ in 0..<Int(seconds * 100) where releases.load(ordering: .relaxed) == 0 { _ = usleep(10_000) }
      return releases.exchange(0, ordering: .relaxed) > 0
    }
  }

  /// Calls `body` with a file's path, and notices of its own, which tell `cache`.
  private func withFile(_ body: (_ path: String, RemovalNotices, Cache) throws -> Void) throws {
    let folder = try SourceFolder()
    try folder.write("a", [1])
    let (notices, cache) = (RemovalNotices(), Cache())
    notices.add(cache)
    try body(folder.path + "/a", notices, cache)
  }

  @Test(arguments: [true, false]) func cacheIsToldOfARemoval(isRenamed: Bool) throws {
    try withFile { path, notices, cache in
      let file = try Descriptor.open(path: path, for: .reading)
      let watch = try #require(notices.watch(file.raw))
      #expect(!cache.isTold(within: 0.3))
      let status = unsafe isRenamed ? rename(path, path + "b") : unlink(path)
      #expect(status == 0 && cache.isTold())
      withExtendedLifetime(watch) {}
    }
  }

  /// The kernel has one watch for all sources of a file.
  @Test func watchLastsAsLongAsAnyUseOfTheFile() throws {
    try withFile { path, notices, cache in
      let file = try Descriptor.open(path: path, for: .reading)
      let kept = try #require(notices.watch(file.raw))
      do { withExtendedLifetime(try #require(notices.watch(file.raw))) {} }
      #expect(!cache.isTold(within: 0.3))
      #expect(unsafe unlink(path) == 0 && cache.isTold())
      withExtendedLifetime(kept) {}
    }
  }

  @Test func endedWatchTellsNothing() throws {
    try withFile { path, notices, cache in
      let file = try Descriptor.open(path: path, for: .reading)
      do { withExtendedLifetime(try #require(notices.watch(file.raw))) {} }
      #expect(unsafe unlink(path) == 0 && !cache.isTold(within: 0.5))
    }
  }

  /// Without a cache, there is nothing to tell, and nothing is watched.
  @Test func filesAreWatchedForCachesOnly() throws {
    let folder = try SourceFolder()
    try folder.write("a", [1])
    let file = try Descriptor.open(path: folder.path + "/a", for: .reading)
    #expect(RemovalNotices().watch(file.raw) == nil)
  }
}
