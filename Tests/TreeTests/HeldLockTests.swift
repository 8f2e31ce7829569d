import AllViews
import Bytes
import Files
import Glibc
import Synchronization
import TestSupport
import Testing
import Threads

@testable import Tree

/// Locks of files that are opened and closed by one owner again and again.
@Suite struct HeldLockTests {
  private func makeTree(of source: SourceFolder) throws -> (Tree, node: UInt64) {
    try source.write("database", "x")
    let root = try RealRoot(
      Descriptor.open(path: source.path, for: .place), pool: DescriptorPool(capacity: 64), path: source.path)
    let tree = try Tree(
      mirroring: root, views: Views(listing: ViewListing(), depth: 4, conversions: nil, memory: MemoryBudget()),
      isWritable: true)
    return (tree, try tree.lookUp("database", in: Tree.root, .blocking).node)
  }

  /// The kernel may send a RELEASE after the same process has opened and locked the file again, as SQLite does.
  @Test func lateReleaseDoesNotEndALaterLock() throws {
    let source = try SourceFolder()
    let (tree, node) = try makeTree(of: source)
    let lock = FileLock(kind: Int16(F_WRLCK), start: 0, count: 1)
    func isHeld() throws -> Bool {
      let other = try tree.open(node, flags: O_RDWR, for: nil)
      return try other.lockInTheWay(of: lock, owner: 2).kind != Int16(F_UNLCK)
    }
    var first: Tree.OpenFile? = try tree.open(node, flags: O_RDWR, for: nil)
    #expect(try first?.setLock(lock, owner: 1) == true)
    #expect(try isHeld())
    try first?.flush(owner: 1)
    #expect(try !isHeld())
    let second = try tree.open(node, flags: O_RDWR, for: nil)
    #expect(try second.setLock(lock, owner: 1))
    first = nil
    #expect(try isHeld())
    try second.flush(owner: 1)
    #expect(try !isHeld())
  }

  /// A thread that looks at a file at the moment when it is closed does not keep its locks.
  @Test(arguments: ["fcntl", "flock"]) func locksEndWithTheHandleOfAFileInUse(how: String) throws {
    let source = try SourceFolder()
    let (tree, node) = try makeTree(of: source)
    let lock = FileLock(kind: Int16(F_WRLCK), start: 0, count: 1)
    func set(_ file: Tree.OpenFile, _ owner: UInt64) throws -> Bool {
      try how == "flock" ? file.setLock(whole: LOCK_EX) : file.setLock(lock, owner: owner)
    }
    let file = try tree.open(node, flags: O_RDWR, for: nil)
    let other = try tree.open(node, flags: O_RDWR, for: nil)
    #expect(try set(file, 1) && !set(other, 2))
    file.noteReleased()
    #expect(try set(other, 2))
    // A later end of the first one does not end the other's.
    file.noteReleased()
    #expect(try !set(file, 1))
  }

  /// Requests that wait are retried when the handler is called, so the lock must have ended by then.
  @Test(arguments: ["flush", "close", "flock"]) func endOfALockIsReported(how: String) throws {
    let source = try SourceFolder()
    let (tree, node) = try makeTree(of: source)
    let lock = FileLock(kind: Int16(F_WRLCK), start: 0, count: 1)
    let set: @Sendable (Tree.OpenFile, UInt64) throws -> Bool = { file, owner in
      try how == "flock" ? file.setLock(whole: LOCK_EX) : file.setLock(lock, owner: owner)
    }
    let other = try tree.open(node, flags: O_RDWR, for: nil)
    var file: Tree.OpenFile? = try tree.open(node, flags: O_RDWR, for: nil)
    if let file { #expect(try set(file, 1)) }
    #expect(try !set(other, 2))
    let reported = Mutex<[UInt64: Bool]>([:])
    tree.whenReleased { inode in
      let isSet = (try? set(other, 2)) ?? false
      reported.withLock { $0[inode] = isSet }
    }
    if how == "flush" { try file?.flush(owner: 1) } else { file = nil }
    tree.whenReleased(nil)
    #expect(reported.withLock { $0 } == [other.inode: true])
  }
}
