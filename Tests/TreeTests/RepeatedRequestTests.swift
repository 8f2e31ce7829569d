import AllViews
import Bytes
import Files
import Glibc
import Synchronization
import TestSupport
import Testing
import Threads

@testable import Tree

/// Requests that a process had begun when it died, and that the next one gets.
@Suite struct RepeatedRequestTests {
  private static let slot: Int32 = 3

  /// What the first process does, and then the second one, which has its records.
  private func inherit(
    _ first: @escaping (SourceFolder, Tree, ChangeRecord) throws -> Void,
    then second: @escaping (SourceFolder, Tree, ChangeRecord) throws -> Void
  ) throws {
    let source = try SourceFolder()
    let file = try FileLock.unnamedFile()
    for (ordinal, act) in zip(UInt16(0)..., [first, second]) {
      let root = try RealRoot(
        Descriptor.open(path: source.path, for: .place), pool: DescriptorPool(capacity: 64), path: source.path)
      let views = Views(listing: ViewListing(), depth: 4, conversions: nil, memory: MemoryBudget())
      let tree = try Tree(mirroring: root, views: views, isWritable: true)
      let journal = try ChangeJournal(file, at: 0, ordinal: ordinal)
      try act(source, tree, #require(journal.record(Self.slot)))
    }
  }

  private func make(_ tree: Tree, _ record: ChangeRecord) throws {
    _ = try tree.makeFolder(
      "new", in: Tree.root, permissions: 0o755, by: Tree.CreationContext(caller: nil, umask: 0, record))
  }

  @Test func repeatedMkdirCreatesDirectoryOnce() throws {
    try inherit {
      try make($1, $2)
    } then: { _, tree, record in
      try make(tree, record)
      record.begin()
      #expect(throws: Fault.self) { try make(tree, record) }
    }
  }

  @Test func interruptedMkdirIsCompleted() throws {
    try inherit {
      $2.begin(0)
    } then: { source, tree, record in
      try make(tree, record)
      #expect(unsafe access(source.path + "/new", F_OK) == 0)
    }
  }

  @Test func unrecordedNewDirectoryIsAccepted() throws {
    try inherit { source, _, record in
      record.begin(0)
      #expect(unsafe mkdir(source.path + "/new", 0o755) == 0)
    } then: {
      try make($1, $2)
    }
  }

  @Test func repeatedMkdirFailsForExistingDirectory() throws {
    try inherit { source, _, record in
      #expect(unsafe mkdir(source.path + "/new", 0o755) == 0)
      record.begin(1)
    } then: { _, tree, record in
      #expect(throws: Fault.self) { try make(tree, record) }
    }
  }

  @Test(arguments: [true, false]) func repeatedRenameIsAppliedOnce(isDone: Bool) throws {
    var inode: UInt64 = 0
    try inherit { source, _, record in
      try source.write("one", "1")
      try source.write("two", "2")
      inode = try Descriptor.open(path: source.path + "/one", for: .place).status().inode
      let other = try Descriptor.open(path: source.path + "/two", for: .place).status().inode
      record.begin(inode, other)
      if isDone { #expect(unsafe rename(source.path + "/one", source.path + "/two") == 0) }
    } then: { source, tree, record in
      try tree.rename("one", in: Tree.root, to: "two", in: Tree.root, flags: 0, for: nil, record)
      let left = try Descriptor.open(path: source.path + "/two", for: .place).status()
      #expect(unsafe left.inode == inode && access(source.path + "/one", F_OK) != 0)
    }
  }

  @Test func ambiguousRepeatedRenameIsRefused() throws {
    try inherit { source, _, record in
      try source.write("one", "1")
      record.begin(1, 2)
    } then: { _, tree, record in
      #expect(throws: Fault.self) {
        try tree.rename("one", in: Tree.root, to: "two", in: Tree.root, flags: 0, for: nil, record)
      }
    }
  }

  @Test func repeatedRemoveIsAppliedOnce() throws {
    try inherit { source, tree, record in
      try source.write("one", "1")
      try tree.remove("one", in: Tree.root, isFolder: false, for: nil, record)
      // Somebody else's.
      try source.write("one", "2")
    } then: { source, tree, record in
      try tree.remove("one", in: Tree.root, isFolder: false, for: nil, record)
      #expect(unsafe access(source.path + "/one", F_OK) == 0)
    }
  }

  @Test func unrecordedRemoveIsAccepted() throws {
    try inherit { source, tree, record in
      try source.write("one", "1")
      _ = try tree.lookUp("one", in: Tree.root, .blocking)
      try tree.remove("one", in: Tree.root, isFolder: false, for: nil, record)
      try source.write("two", "2")
      record.begin(try Descriptor.open(path: source.path + "/two", for: .place).status().inode)
      #expect(unsafe unlink(source.path + "/two") == 0)
    } then: { _, tree, record in
      try tree.remove("two", in: Tree.root, isFolder: false, for: nil, record)
    }
  }

  /// Another program has replaced the file since it was looked up, or since it was removed.
  @Test func ambiguousRepeatedRemoveIsRefused() throws {
    try inherit { source, _, record in
      try source.write("one", "1")
      record.begin(1)
    } then: { source, tree, record in
      #expect(throws: Fault.self) {
        try tree.remove("one", in: Tree.root, isFolder: false, for: nil, record)
      }
      #expect(unsafe access(source.path + "/one", F_OK) == 0)
    }
  }

  /// Nothing, a part, or all of it was appended when the process died.
  @Test(arguments: ["", "ab", "abcd"]) func repeatedAppendWritesBytesOnce(done: String) throws {
    try inherit { source, _, record in
      try source.write("log", "0" + done)
      record.begin(1)
    } then: { source, tree, record in
      let node = try tree.lookUp("log", in: Tree.root, .blocking).node
      let file = try tree.open(node, flags: O_RDWR, for: nil)
      let count = try append("abcd", to: file, record)
      #expect(count == 4)
      let size = try Descriptor.open(path: source.path + "/log", for: .place).status().size
      #expect(size == 5)
    }
  }

  @Test func foreignBytesAreNotTakenForOwnAppend() throws {
    try inherit { source, _, record in
      try source.write("log", "0xy")
      record.begin(1)
    } then: { _, tree, record in
      let node = try tree.lookUp("log", in: Tree.root, .blocking).node
      let file = try tree.open(node, flags: O_RDWR, for: nil)
      #expect(throws: Fault.self) { try append("abcd", to: file, record) }
    }
  }

  private func append(_ text: String, to file: Tree.OpenFile, _ record: ChangeRecord) throws -> Int {
    let bytes = Array(text.utf8)
    return try unsafe bytes.withUnsafeBytes { unsafe try file.write($0, at: nil, for: nil, record) }
  }

  @Test func recordedRepliesSurviveRestart() throws {
    let file = try FileLock.unnamedFile()
    let before = try ChangeJournal(file, at: 0, ordinal: 0)
    before.setAnswer(7, error: EEXIST, [1, 2, 3])
    let after = try ChangeJournal(file, at: 0, ordinal: 1)
    let answer = try #require(after.answer(7))
    #expect(answer.error == EEXIST && answer.bytes == [1, 2, 3])
    #expect(after.answer(8) == nil)
    after.clear(7)
    #expect(after.answer(7) == nil)
  }

  @Test func descriptorsAreRecordedUntilTheyAreRemoved() throws {
    let file = try FileLock.unnamedFile()
    let ledger = try OpenLedger(file, at: 0)
    var record = OpenLedger.Record(.file)
    (record.node, record.generation) = (5, 6)
    let entry = try #require(ledger.add(4, record))
    let removed = ledger.add(5, record)
    entry.setNumber(9)
    removed?.remove()
    let found = try OpenLedger(file, at: 0).inherited
    #expect(found.count == 1 && found.first?.record.number == 9 && found.first?.record.generation == 6)
    // Nobody has given them to this process.
    #expect(found.first?.record.file == -1)
  }

  /// The backing file of an open file.
  private final class Backing: Sendable {
    let unregister: @Sendable () -> Void
    init(unregister: @escaping @Sendable () -> Void) { self.unregister = unregister }
    deinit { unregister() }
  }

  /// Opens a file with a backing file, and returns the records that the next process finds after `act`.
  private func records(
    after act: (inout Tree.OpenFile?) -> Void,
    whenUnregistered: @escaping @Sendable ([OpenLedger.Record]) -> Void = { _ in }
  ) throws -> [OpenLedger.Record] {
    let source = try SourceFolder()
    try source.write("file", "x")
    let memory = try FileLock.unnamedFile()
    let copy = fcntl(memory.raw, F_DUPFD_CLOEXEC, 0)
    let found: @Sendable () -> [OpenLedger.Record] = {
      let again = Descriptor(owning: fcntl(copy, F_DUPFD_CLOEXEC, 0))
      return ((try? OpenLedger(again, at: 0).inherited) ?? []).map(\.record)
    }
    defer { close(copy) }
    let root = try RealRoot(
      Descriptor.open(path: source.path, for: .place), pool: DescriptorPool(capacity: 64), path: source.path)
    let views = Views(listing: ViewListing(), depth: 4, conversions: nil, memory: MemoryBudget())
    let tree = try Tree(mirroring: root, views: views, isWritable: true, openLedger: OpenLedger(memory, at: 0))
    let node = try tree.lookUp("file", in: Tree.root, .blocking).node
    var file: Tree.OpenFile? = try tree.open(node, flags: O_RDWR, for: nil)
    _ = file?.lent { _ in Backing { whenUnregistered(found()) } }
    file?.note(9, lent: 7)
    #expect(found().first?.number == 9 && found().first?.lent == 7)
    act(&file)
    return found()
  }

  /// A thread that uses a file while it is closed does not leave it open in the next process.
  @Test func releasedFileInUseIsNotInherited() throws {
    let found = try records { $0?.noteReleased() }
    #expect(found.map(\.number) == [0])
  }

  /// Otherwise every later open would fail with EIO, since the kernel does not know the backing file.
  @Test func unregisteredBackingFileIsNotInherited() throws {
    let seen = Mutex<[OpenLedger.Record]>([])
    let found = try records {
      $0 = nil
    } whenUnregistered: { records in
      seen.withLock { $0 = records }
    }
    let atTheTime = seen.withLock { $0 }
    #expect(atTheTime.count == 1 && atTheTime.allSatisfy { $0.lent == nil })
    #expect(found.isEmpty)
  }
}
