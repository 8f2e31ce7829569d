import AllViews
import Bytes
import Files
import Index
import Jobs
import Mail
import TestSupport
import Testing
import Unpacking

@testable import Fuzzing
@testable import MailViews
@testable import Tree

/// Extreme numbers and texts, in everything that reads them.
@Suite(.timeLimit(.minutes(10))) struct HostileNumberTests {
  /// The number of inputs of each target in a batch: about a second's.
  static let rounds = [
    "tree": 25, "tables": 60, "json": 150, "rtf": 150, "queries": 80, "names": 60, "jobs": 2000,
  ]

  @Test(arguments: rounds.keys.sorted(), 0..<(TestExtent.isFull ? 20 : 1))
  func mutatedNumberSeedsAreRead(_ name: String, batch: Int) throws {
    let target = try #require(FuzzTarget.named(name))
    let complaints = target.complaints(ofMutations: Self.rounds[name] ?? 0, seed: UInt64(batch))
    #expect(complaints.isEmpty, "\(name), batch \(batch): \(complaints)")
  }

  @Test(arguments: rounds.keys.sorted()) func seedsAreReadWithoutComplaint(_ name: String) throws {
    let target = try #require(FuzzTarget.named(name))
    for (number, seed) in target.seeds().enumerated() { #expect(target.complaints(seed).isEmpty, "\(name) \(number)") }
  }

  /// Checks that the walk can detect anything.
  @Test func inconsistentTreeIsDetected() throws {
    var reading = TreeReading(Tree(root: LyingFolder(), views: Views()))
    reading.walk()
    #expect(reading.complaints.contains { $0.contains("has the size -5") }, "\(reading.complaints)")
    #expect(reading.complaints.contains { $0.contains("gives 10 bytes of 3") }, "\(reading.complaints)")
  }

  /// Checks that the generated folders contain what they should.
  @Test func seedsContainExtremeNumbers() throws {
    var (archives, holes, poisoned) = (0, 0, 0)
    for seed in FuzzTarget.tree.seeds() {
      var choices = Choices(seed)
      let folder = try HostileFolder(&choices)
      for name in folder.names {
        let size = try folder.source.status(name).size
        if size > Bounds.largestSize { holes += 1 } else if name.fileExtension == "zip" { archives += 1 }
      }
      poisoned += folder.index.map { $0.contents().count } ?? 0
      folder.index?.finish(within: .seconds(2))
    }
    #expect(archives > 10 && poisoned > 10)
    // Holes of any length exist only on a tmpfs.
    #expect(holes > 0 || !MountScratch.isWritable("/dev/shm"))
    #expect(Set(HostileFolder.extensions).isSuperset(of: ["zip", "mbox", "eml", "pdf", "heic", "csv", "json", ""]))
  }

  /// Checks that the records in the index are found and parsed, of every kind: their keys and versions are the present
  /// ones.
  @Test func seedsContainValidIndexRecords() throws {
    var found: Set<String> = []
    for seed in FuzzTarget.tree.seeds() {
      var choices = Choices(seed)
      let folder = try HostileFolder(&choices)
      guard let index = folder.index else { continue }
      defer { index.finish(within: .seconds(2)) }
      let sizes = ResultSizes(index: index)
      let root = try RealRoot(
        Descriptor.open(path: folder.source.path, for: .place), pool: DescriptorPool(capacity: 32))
      for name in folder.names {
        let source = try Source(name, in: RealFolder(root: root))
        try sizes.load(ofState: source.revision, .blocking)
        if sizes.known("text", inState: source.revision) != nil { found.insert("size") }
        guard let bytes = try? source.open(.blocking), let identity = bytes.identity else { continue }
        let store = MailboxStore(index, identity)
        if let stored = store.directory(), stored.isOfPresent {
          let directory = stored.directory
          found.insert("directory")
          let count = directory.count
          if store.rows(of: 0, count: count) != nil { found.insert("rows") }
          let content = MailboxContentStore(store, of: directory.hash)
          if GroupStore(content).facts(messages: count) != nil { found.insert("facts") }
          let groups = Sorting.allCases.compactMap { GroupStore(content).groups($0, messages: count) }
          if groups.contains(where: { $0.count > 0 }) { found.insert("groups") }
          if AttachmentStore(content).blocks().contains(where: { !$0.entries.isEmpty }) { found.insert("attachments") }
        }
      }
      let tree = try Tree(mirroring: folder.source.path, index, cache: folder.source.path)
      defer { tree.stop() }
      for name in folder.names where name.fileExtension == "zip" {
        guard let contents = try? tree.lookUp(FileName(name.bytes + Array(".contents".utf8)), in: Tree.root, .blocking),
          let long = try? tree.lookUp("long.bin", in: contents.node, .blocking),
          let stream = try? tree.open(long.node, .blocking).source.identity
        else { continue }
        if IndexedRestarts(index: index).last(of: stream, in: 0...8) != nil { found.insert("restart points") }
      }
    }
    #expect(found == ["size", "directory", "rows", "facts", "groups", "attachments", "restart points"])
  }

  @Test func mailboxDirectoryNumbersAreValidated() {
    var directory = BlockIndex()
    directory.blocks = [5]
    directory.count = 1
    directory.end = 100
    directory.hash.size = 100
    #expect(BlockIndex(packed: directory.packed[...]) == directory)
    for count in 0..<directory.packed.count {
      #expect(BlockIndex(packed: directory.packed.prefix(count)) == nil, "\(count) bytes")
    }
    for end in [-1, Int64.min, .max, Bounds.largestSize + 1] {
      var odd = directory
      odd.end = end
      odd.hash.size = max(end, 100)
      #expect(BlockIndex(packed: odd.packed[...]) == nil)
      #expect(BlockIndex.Hash(packed: BlockIndex.Hash(size: end, value: 1).packed) == nil)
    }
    // Blocks are in order and below the end, and all but the last are full.
    for blocks in [[5, 7], [0, 99], [5, 5], [7, 5], [-1, 5], [5, 100], [5, .max], [5, .min]] as [[Int64]] {
      for count in [
        BlockIndex.blockSize, BlockIndex.blockSize + 1, 2 * BlockIndex.blockSize, 2 * BlockIndex.blockSize + 1,
      ] {
        var odd = directory
        (odd.blocks, odd.count) = (blocks, count)
        let isValid = blocks[0] >= 0 && blocks[0] < blocks[1] && blocks[1] < 100
        let isFull = count > BlockIndex.blockSize && count <= 2 * BlockIndex.blockSize
        #expect(BlockIndex(packed: odd.packed[...]) == (isValid && isFull ? odd : nil), "\(blocks), \(count)")
      }
    }
  }

  /// The sizes of views are bounded, whatever the file's is.
  @Test(arguments: [Int64.max, .max - 510, 1 << 61, 1 << 62 - 1024, .min, -1])
  func viewSizesAreBoundedForAnySourceSize(_ size: Int64) throws {
    let (source, root) = (
      LyingFile(size: size),
      Node(id: 1, generation: 0, parent: nil, name: "", item: LyingFolder(), depth: 0, face: .none)
    )
    let described = Source(item: source, attributes: try source.attributes(.blocking), name: "x.csv", folder: root)
    #expect(Bounds.holds(described.attributes.size))
    let view = described.attributes.view(inode: 1, kind: .file, size: size)
    #expect(Bounds.holds(view.size) && view.allocated * 512 >= view.size)
    if size > Bounds.largestSize {
      let fault = #expect(throws: Fault.self) { try described.open(.blocking) }
      #expect(fault?.kind == .limit && fault?.reason.contains("\(size) bytes") ?? false)
    }
  }
}

/// A folder with a file whose attributes are invalid.
private final class LyingFolder: Item {
  func accessList() throws(Fault) -> AccessList? { nil }
  let inode: UInt64 = 1
  let kind = Kind.folder
  var isImmutable: Bool { true }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes { .of(self, size: 0) }

  func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    guard name == "f" else { return nil }
    let file = LyingFile(size: -5)
    return LookupResult(file, try file.attributes(blocking))
  }

  func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor { IndexedCursor([("f", 2, .file)]) }
}

private final class LyingFile: Item {
  func accessList() throws(Fault) -> AccessList? { nil }
  let inode: UInt64 = 2
  let kind = Kind.file
  var isImmutable: Bool { true }
  private let size: Int64

  init(size: Int64) { self.size = size }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes { .of(self, size: size) }
  func open(pinned: Bool, _ blocking: BlockingMode) throws(Fault) -> any ByteSource { LyingSource(size: max(3, size)) }
}

/// Returns as many bytes as requested, at any offset.
private final class LyingSource: ByteSource {
  let size: Int64

  init(size: Int64) { self.size = size }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64, _ blocking: BlockingMode) throws(Fault) -> Int
  {
    unsafe buffer.initializeMemory(as: UInt8.self, repeating: 0)
    return buffer.count
  }
}

extension Attributes {
  fileprivate static func of(_ item: any Item, size: Int64) -> Attributes {
    let time = Timestamp(seconds: 0)
    return Attributes(
      inode: item.inode, kind: item.kind, permissions: 0o644, links: 1, owner: 0, group: 0, size: size, allocated: 0,
      accessed: time, modified: time, changed: time)
  }
}
