import Bytes
import Foundation
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

  /// An open file.
  private struct Opened {
    let file: PooledDescriptor
    let status: FileStatus

    init(_ path: String) throws {
      file = PooledDescriptor(DescriptorPool(capacity: 4)) { () throws(Fault) in
        try Descriptor.open(path: path, for: .reading)
      }
      status = try file.withDescriptor { (raw) throws(Fault) in try FileStatus(of: raw) }
    }
  }

  /// Calls `body` with a file's path, and notices of its own, which tell `cache`.
  private func withFile(_ body: (_ path: String, Opened, RemovalNotices, Cache) throws -> Void) throws {
    let folder = try SourceFolder()
    try folder.write("a", [1])
    let (notices, cache) = (RemovalNotices(), Cache())
    notices.add(cache)
    try body(folder.path + "/a", Opened(folder.path + "/a"), notices, cache)
  }

  /// The watch of a file begins some time after the file was opened.
  @Test(arguments: [true, false], [0, 0.6]) func cacheIsToldOfARemoval(isRenamed: Bool, after seconds: Double) throws {
    try withFile { path, opened, notices, cache in
      let watch = try #require(notices.watch(opened.file, opened: opened.status))
      #expect(!cache.isTold(within: seconds))
      let status = unsafe isRenamed ? rename(path, path + "b") : unlink(path)
      #expect(status == 0 && cache.isTold())
      withExtendedLifetime(watch) {}
    }
  }

  /// The kernel has one watch for all sources of a file.
  @Test func watchLastsAsLongAsAnyUseOfTheFile() throws {
    try withFile { path, opened, notices, cache in
      let kept = try #require(notices.watch(opened.file, opened: opened.status))
      do { withExtendedLifetime(try #require(notices.watch(opened.file, opened: opened.status))) {} }
      #expect(!cache.isTold(within: 0.6))
      #expect(unsafe unlink(path) == 0 && cache.isTold())
      withExtendedLifetime(kept) {}
    }
  }

  /// A user may have a limited number of watches.
  @Test func watchEndsWithTheLastUseOfTheFile() throws {
    try withFile { path, opened, notices, cache in
      func isWatched() throws -> Bool {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo").contains { name in
          let text = (try? String(contentsOfFile: "/proc/self/fdinfo/\(name)", encoding: .utf8)) ?? ""
          return text.contains("inotify wd:") && text.contains(" ino:\(String(opened.status.inode, radix: 16)) ")
        }
      }
      func eventually(_ expected: Bool) throws -> Bool {
        for _ in 0..<1000 where try isWatched() != expected { _ = usleep(10_000) }
        return try isWatched() == expected
      }
      func watch() throws -> RemovalWatch { try #require(notices.watch(opened.file, opened: opened.status)) }
      var (one, other): (RemovalWatch?, RemovalWatch?) = (try watch(), try watch())
      #expect(try eventually(true))
      one = nil
      #expect(try isWatched() && other != nil)
      other = nil
      #expect(try eventually(false))
      withExtendedLifetime((one, other)) {}
    }
  }

  @Test func endedWatchTellsNothing() throws {
    try withFile { path, opened, notices, cache in
      do { withExtendedLifetime(try #require(notices.watch(opened.file, opened: opened.status))) {} }
      #expect(unsafe unlink(path) == 0 && !cache.isTold(within: 0.5))
    }
  }

  /// Without a cache, there is nothing to tell, and nothing is watched.
  @Test func filesAreWatchedForCachesOnly() throws {
    let folder = try SourceFolder()
    try folder.write("a", [1])
    let opened = try Opened(folder.path + "/a")
    #expect(RemovalNotices().watch(opened.file, opened: opened.status) == nil)
  }
}
