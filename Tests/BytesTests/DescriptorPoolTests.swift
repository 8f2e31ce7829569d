import Bytes
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Files

@Suite struct DescriptorPoolTests {
  private static func content(_ index: Int) -> [UInt8] { Array("content of file \(index)".utf8) }

  private static func file(_ index: Int, in folder: SourceFolder, _ pool: DescriptorPool) throws -> FileSource {
    let path = "\(folder.path)/f\(index)"
    let descriptor = PooledDescriptor(pool) { () throws(Fault) in try Descriptor.open(path: path, for: .reading) }
    let status = try descriptor.withDescriptor { (raw) throws(Fault) in try FileStatus(of: raw) }
    return FileSource(descriptor, opened: status, isPinned: true)
  }

  private static func makeFolder(_ count: Int) throws -> SourceFolder {
    let folder = try SourceFolder()
    for index in 0..<count { try folder.write(FileName("f\(index)"), content(index)) }
    return folder
  }

  @Test func openDescriptorCounterIsCorrect() throws {
    let folder = try Self.makeFolder(2)
    #expect(try folder.openDescriptors() == 0)
    do {
      let one = try Descriptor.open(path: folder.path + "/f0", for: .reading)
      let other = try Descriptor.open(path: folder.path + "/f1", for: .reading)
      #expect(try folder.openDescriptors() == 2)
      _ = (one.raw, other.raw)
    }
    #expect(try folder.openDescriptors() == 0)
  }

  @Test(arguments: [1, 2, 3, 16]) func manyFilesShareFewDescriptors(capacity: Int) throws {
    let folder = try Self.makeFolder(100)
    do {
      let pool = DescriptorPool(capacity: capacity)
      let files = try (0..<100).map { try Self.file($0, in: folder, pool) }
      var numbers = SeededNumbers(seed: 1)
      for _ in 0..<1000 {
        let index = numbers.below(files.count)
        #expect(try files[index].readThrough() == Self.content(index))
      }
      let open = try folder.openDescriptors()
      #expect(open >= 1 && open <= capacity)
    }
    #expect(try folder.openDescriptors() == 0)
  }

  @Test func concurrentReadsStayWithinPoolCapacity() throws {
    let folder = try Self.makeFolder(20)
    do {
      let pool = DescriptorPool(capacity: 2)
      let files = try (0..<20).map { try Self.file($0, in: folder, pool) }
      try onThreads(8) { thread in
        var numbers = SeededNumbers(seed: UInt64(thread))
        for _ in 0..<300 {
          let index = numbers.below(files.count)
          guard try files[index].readThrough() == Self.content(index) else { throw Fault(.damaged, "file \(index)") }
        }
      }
      #expect(try folder.openDescriptors() <= 2)
    }
    #expect(try folder.openDescriptors() == 0)
  }

  @Test func releasedFilesCloseTheirDescriptors() throws {
    let folder = try Self.makeFolder(10)
    let pool = DescriptorPool(capacity: 4)
    for round in 0..<200 { _ = try Self.file(round % 10, in: folder, pool).readThrough() }
    #expect(try folder.openDescriptors() == 0)
  }

  @Test func asManyDescriptorsAreReleasedAsAreAskedFor() throws {
    let folder = try Self.makeFolder(6)
    let pool = DescriptorPool(capacity: 8)
    let files = try (0..<6).map { try Self.file($0, in: folder, pool) }
    func readAll() throws {
      for (index, file) in files.enumerated() { #expect(try file.readThrough() == Self.content(index)) }
    }
    try readAll()
    #expect(try folder.openDescriptors() == 6 && pool.idleDescriptors == 6)
    pool.releaseDescriptors(2)
    #expect(try folder.openDescriptors() == 4 && pool.idleDescriptors == 4)
    pool.releaseDescriptors(9)
    #expect(try folder.openDescriptors() == 0 && pool.idleDescriptors == 0)
    try readAll()
  }

  @Test func descriptorInUseIsNotEvicted() throws {
    let folder = try Self.makeFolder(3)
    let pool = DescriptorPool(capacity: 1)
    let paths = (0..<3).map { "\(folder.path)/f\($0)" }
    let files = paths.map { path in
      PooledDescriptor(pool) { () throws(Fault) in try Descriptor.open(path: path, for: .reading) }
    }
    try files[0].withDescriptor { (one) throws(Fault) in
      try files[1].withDescriptor { (other) throws(Fault) in
        #expect(one != other)
        let inner = try files[0].withDescriptor { (again) throws(Fault) in again }
        #expect(inner == one)
        let (first, second) = (try FileStatus(of: one), try FileStatus(of: other))
        #expect(first.inode != second.inode)
      }
    }
    #expect(try folder.openDescriptors() <= 1)
  }

  /// Files stay, as a program can be reading them, and so does a directory in use.
  @Test func removedDirectoriesAreClosed() throws {
    let folder = try SourceFolder()
    let pool = DescriptorPool(capacity: 8)
    func pooled(_ name: String, _ purpose: Descriptor.Purpose) throws -> PooledDescriptor {
      let path = "\(folder.path)/\(name)"
      let file = PooledDescriptor(pool) { () throws(Fault) in try Descriptor.open(path: path, for: purpose) }
      try file.withDescriptor { (_) throws(Fault) in }
      return file
    }
    for name in ["removed", "kept", "used"] { #expect(unsafe mkdir("\(folder.path)/\(name)", 0o700) == 0) }
    try folder.write("file", [1])
    let used = try pooled("used", .place)
    let others = [try pooled("removed", .place), try pooled("kept", .place), try pooled("file", .reading)]
    #expect(try folder.openDescriptors() == 4)
    for name in ["removed", "used"] { #expect(unsafe rmdir("\(folder.path)/\(name)") == 0) }
    #expect(unsafe unlink(folder.path + "/file") == 0)
    try used.withDescriptor { (_) throws(Fault) in pool.closeRemovedFolders() }
    #expect(try folder.openDescriptors() == 3)
    pool.closeRemovedFolders()
    #expect(try folder.openDescriptors() == 2)
    #expect(throws: Fault(.system(ENOENT), "open")) { try others[0].withDescriptor { (raw) throws(Fault) in raw } }
    try others[1].withDescriptor { (_) throws(Fault) in }
  }

  @Test func openedDescriptorIsAdopted() throws {
    let folder = try Self.makeFolder(1)
    let path = folder.path + "/f0"
    do {
      let reopened = Mutex(0)
      let pool = DescriptorPool(capacity: 1)
      let file = PooledDescriptor(pool, opened: try Descriptor.open(path: path, for: .reading)) { () throws(Fault) in
        reopened.withLock { $0 += 1 }
        return try Descriptor.open(path: path, for: .reading)
      }
      _ = try file.withDescriptor { (raw) throws(Fault) in try FileStatus(of: raw) }
      #expect(reopened.withLock { $0 } == 0)
      // Evicted and reopened.
      let other = PooledDescriptor(pool) { () throws(Fault) in try Descriptor.open(path: path, for: .reading) }
      _ = try other.withDescriptor { (raw) throws(Fault) in try FileStatus(of: raw) }
      _ = try file.withDescriptor { (raw) throws(Fault) in try FileStatus(of: raw) }
      #expect(reopened.withLock { $0 } == 1)
    }
    #expect(try folder.openDescriptors() == 0)
  }

  @Test func failedOpenThrowsAndLeavesPoolUsable() throws {
    let folder = try Self.makeFolder(1)
    let pool = DescriptorPool(capacity: 1)
    let path = folder.path + "/gone"
    let file = PooledDescriptor(pool) { () throws(Fault) in try Descriptor.open(path: path, for: .reading) }
    for _ in 0..<3 {
      #expect(throws: Fault(.system(ENOENT), "open")) { try file.withDescriptor { (raw) throws(Fault) in raw } }
    }
    let good = try Self.file(0, in: folder, pool)
    #expect(throws: Fault.stale1) { try good.holder { () throws(Fault) in throw Fault.stale1 } }
    #expect(try good.readThrough() == Self.content(0))
  }

  @Test func openIsRetriedAfterEvictingIdleDescriptor() throws {
    let folder = try Self.makeFolder(2)
    let pool = DescriptorPool(capacity: 4)
    let path = folder.path + "/f1"
    let tries = Mutex(0)
    let file = PooledDescriptor(pool) { () throws(Fault) in
      let number = tries.withLock { tries in
        tries += 1
        return tries
      }
      if number < 3 { throw Fault(.system(EMFILE), "open") }
      return try Descriptor.open(path: path, for: .reading)
    }
    // The pool has no descriptor that could be closed for it.
    #expect(throws: Fault(.system(EMFILE), "open")) { try file.withDescriptor { (raw) throws(Fault) in raw } }
    let idle = try Self.file(0, in: folder, pool)
    #expect(try folder.openDescriptors() == 1)
    let size = try file.withDescriptor { (raw) throws(Fault) in try FileStatus(of: raw).size }
    #expect(size == Int64(Self.content(1).count) && tries.withLock { $0 } == 3)
    // The idle one was closed, and is reopened when needed.
    #expect(try folder.openDescriptors() == 1)
    #expect(try idle.readThrough() == Self.content(0))
  }

  /// If times count whole seconds, a change within two seconds may not be visible in them.
  @Test func recentlyWrittenFileHasNoIdentity() throws {
    let folder = try Self.makeFolder(1)
    let pool = DescriptorPool(capacity: 2)
    try folder.setModified("f0", Timestamp(seconds: Int64(time(nil)) + 1))
    #expect(try Self.file(0, in: folder, pool).identity == nil)
    try folder.setModified("f0", Timestamp(seconds: Int64(time(nil)) - 60))
    // The change time, which cannot be set, is the present.
    #expect(try Self.file(0, in: folder, pool).identity == nil)
    usleep(60_000)
    let settled = try Self.file(0, in: folder, pool)
    #expect(settled.identity != nil)
    // Nor does a file that may change while it is open.
    let descriptor = PooledDescriptor(pool) { () throws(Fault) in
      try Descriptor.open(path: folder.path + "/f0", for: .reading)
    }
    #expect(FileSource(descriptor, opened: settled.opened, isPinned: false).identity == nil)
  }

  @Test func changedPinnedFileThrows() throws {
    let folder = try Self.makeFolder(2)
    let pool = DescriptorPool(capacity: 2)
    let file = try Self.file(0, in: folder, pool)
    try file.verify()
    try folder.write("f0", "something longer than before")
    let fault = #expect(throws: Fault.self) { try file.readThrough() }
    #expect(fault?.kind == .changed)
    #expect(throws: Fault.self) { try file.verify() }
  }
}

extension Fault {
  fileprivate static let stale1 = Fault(.system(ESTALE))
}

extension FileSource {
  /// Runs `body` while the file is open.
  fileprivate func holder(_ body: () throws(Fault) -> Void) throws(Fault) {
    guard let extent = extent(at: 0, count: 1) else { throw Fault(.damaged, "no extent") }
    try extent.holder.withDescriptor { (_) throws(Fault) in try body() }
  }
}
