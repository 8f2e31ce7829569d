import AllViews
import Bytes
import Files
import Foundation
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

  /// A program that is being started has a duplicate of every descriptor until it is executed.
  @Test func locksEndAtAFlushAlthoughTheirDescriptorsHaveDuplicates() throws {
    let source = try SourceFolder()
    let (tree, node) = try makeTree(of: source)
    let lock = FileLock(kind: Int16(F_WRLCK), start: 0, count: 1)
    let file = try tree.open(node, flags: O_RDWR, for: nil)
    let other = try tree.open(node, flags: O_RDWR, for: nil)
    #expect(try file.setLock(lock, owner: 1) && !other.setLock(lock, owner: 2))
    let duplicates = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap(Int32.init).filter
    {
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)"))?.hasSuffix(
        source.path + "/database") == true
    }.map { fcntl($0, F_DUPFD_CLOEXEC, 0) }
    defer { for duplicate in duplicates { close(duplicate) } }
    #expect(duplicates.count > 2)
    try file.flush(owner: 1)
    #expect(try other.setLock(lock, owner: 2))
  }

  /// The kernel reports the end of a descriptor for reading with the release alone, unless it is told to flush.
  @Test func filesAreFlushedOnceProgramsLockThem() throws {
    let source = try SourceFolder()
    let (tree, node) = try makeTree(of: source)
    func flushes() throws -> Bool { try tree.open(node, flags: O_RDONLY, for: nil).mayEndLocks }
    #expect(try !flushes())
    let lock = FileLock(kind: Int16(F_RDLCK), start: 0, count: 1)
    #expect(try tree.open(node, flags: O_RDONLY, for: nil).setLock(lock, owner: 1))
    #expect(try flushes())
  }

  /// Another process may have a copy of a descriptor that its owner has closed.
  @Test func locksOutliveADescriptorThroughWhichEarlierOnesWereSet() throws {
    let source = try SourceFolder()
    let (tree, node) = try makeTree(of: source)
    let closed = try tree.open(node, flags: O_RDONLY, for: nil)
    #expect(try closed.setLock(FileLock(kind: Int16(F_RDLCK), start: 0, count: 1), owner: 1))
    let file = try tree.open(node, flags: O_RDWR, for: nil)
    let lock = FileLock(kind: Int16(F_WRLCK), start: 0, count: 1)
    #expect(try file.setLock(lock, owner: 1))
    closed.noteReleased()
    let other = try tree.open(node, flags: O_RDWR, for: nil)
    #expect(try !other.setLock(lock, owner: 2))
    file.noteReleased()
    #expect(try other.setLock(lock, owner: 2))
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

  /// Another process, which tries to lock a file for writing while it may.
  private final class Rival: Sendable {
    /// 1 while it may try, -1 at the end.
    private let phase = Atomic<Int>(0)
    private let rests = Atomic<Int>(0)
    let tries = Atomic<Int>(0)
    let successes = Atomic<Int>(0)

    func run(_ file: LockDescriptor) {
      while true {
        let phase = phase.load(ordering: .sequentiallyConsistent)
        if phase < 0 { return }
        if phase == 0 {
          rests.add(1, ordering: .sequentiallyConsistent)
          sched_yield()
          continue
        }
        if (try? FileLock(kind: Int16(F_WRLCK), start: 0, count: 1).set(on: file.raw)) == true {
          successes.add(1, ordering: .sequentiallyConsistent)
          _ = try? FileLock(kind: Int16(F_UNLCK), start: 0, count: 1).set(on: file.raw)
        }
        tries.add(1, ordering: .sequentiallyConsistent)
      }
    }

    /// Lets it try, at least once before and once after `body`.
    func compete<Value>(with body: () throws -> Value) rethrows -> Value {
      func wait(_ count: borrowing Atomic<Int>) {
        let before = count.load(ordering: .sequentiallyConsistent)
        while count.load(ordering: .sequentiallyConsistent) < before + 2 { sched_yield() }
      }
      phase.store(1, ordering: .sequentiallyConsistent)
      wait(tries)
      let value = try body()
      wait(tries)
      phase.store(0, ordering: .sequentiallyConsistent)
      wait(rests)
      return value
    }

    func end() { phase.store(-1, ordering: .sequentiallyConsistent) }
  }

  /// A lock for reading goes over to a descriptor that permits writing, too. No other process gets in between.
  @Test func lockThatMovesIsNeverFree() throws {
    let source = try SourceFolder()
    try source.write("file", "x")
    func descriptor(_ flags: Int32) -> LockDescriptor {
      LockDescriptor(Descriptor(owning: unsafe open(source.path + "/file", flags | O_CLOEXEC)))
    }
    let lock = FileLock(kind: Int16(F_RDLCK), start: 0, count: 1)
    let rival = Rival()
    let file = descriptor(O_RDWR)
    let thread = Thread { rival.run(file) }
    thread.start()
    defer { rival.end() }
    for _ in 0..<150 {
      let locks = OwnerLocks(inode: 1, released: Handler())
      #expect(try locks.set(lock, handle: 1) { () throws(Fault) in descriptor(O_RDONLY) } == true)
      locks.add(descriptor(O_RDWR))
      let isSet = try rival.compete { try locks.set(lock, handle: 2) { () throws(Fault) in descriptor(O_RDWR) } }
      #expect(isSet == true)
    }
    #expect(rival.successes.load(ordering: .relaxed) == 0)
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
