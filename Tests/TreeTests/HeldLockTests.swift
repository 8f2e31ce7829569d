import AllViews
import Bytes
import Files
import Glibc
import TestSupport
import Testing
import Threads

@testable import Tree

/// Locks of files that are opened and closed by one owner again and again.
@Suite struct HeldLockTests {
  /// The kernel may send a RELEASE after the same process has opened and locked the file again, as SQLite does.
  @Test func lateReleaseDoesNotEndALaterLock() throws {
    let source = try SourceFolder()
    try source.write("database", "x")
    let root = try RealRoot(
      Descriptor.open(path: source.path, for: .place), pool: DescriptorPool(capacity: 64), path: source.path)
    let tree = try Tree(
      mirroring: root, views: Views(listing: ViewListing(), depth: 4, conversions: nil, memory: MemoryBudget()),
      isWritable: true)
    let node = try tree.lookUp("database", in: Tree.root, .blocking).node
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
}
