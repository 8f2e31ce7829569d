import AllViews
import Bytes
import Files
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Tree

/// The table of nodes by itself, as a kernel uses it from several threads.
@Suite struct NodeTableTests {
  /// An item whose methods take as long as they like: none is called while the table is locked.
  private final class Thing: Item {
    let inode: UInt64
    let kind: Kind
    let isImmutable = true
    var content: UInt64? {
      look()
      return inode
    }
    var sourceState: UInt64 {
      look()
      return 1
    }
    private let look: @Sendable () -> Void

    init(_ kind: Kind, _ inode: UInt64, _ look: @escaping @Sendable () -> Void = {}) {
      (self.kind, self.inode, self.look) = (kind, inode, look)
    }

    func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
      let time = Timestamp(seconds: 1)
      return Attributes(
        inode: inode, kind: kind, permissions: 0o755, links: 1, owner: 0, group: 0, size: 1, allocated: 0,
        accessed: time, modified: time, changed: time)
    }
    func accessList() throws(Fault) -> AccessList? { nil }
  }

  private static func found(_ item: Thing) throws -> LookupResult {
    LookupResult(item, try item.attributes(.immediate))
  }

  /// The next process finds of each node what was recorded of it.
  @Test func recordsHaveEverythingThatIsWritten() throws {
    let path = NSTemporaryDirectory() + "records.\(UUID().uuidString)"
    let file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    try #require(unsafe file >= 0 && unlink(path) == 0)
    defer { close(file) }
    func table() throws -> PersistentNodeTable {
      try PersistentNodeTable(Descriptor(owning: fcntl(file, F_DUPFD_CLOEXEC, 3)), at: 0)
    }
    let written = try table()
    var nodes: [(node: Node, parent: UInt32, lookups: UInt64, isNameless: Bool)] = []
    for number in UInt32(2)..<50 {
      let item = Thing(number.isMultiple(of: 3) ? .folder : .file, UInt64(number) << 40 | 7)
      let attributes = try item.attributes(.immediate)
      let node = Node(
        id: number, generation: written.nextGeneration(), parent: nil,
        name: FileName(Array(repeating: UInt8(number), count: Int(number))), item: item, depth: 0,
        face: AccessAttributes(attributes, isConcealed: number.isMultiple(of: 5)))
      let (parent, lookups, isNameless) = (number / 2, UInt64(number) * 1000, number.isMultiple(of: 7))
      written.add(node, in: parent)
      written.setLookups(lookups, of: number)
      written.setNameless(number, isNameless)
      nodes.append((node, parent, lookups, isNameless))
    }
    written.remove(10)
    written.move(11, to: 4, "moved")
    written.setNameless(14, false)
    let read = try table()
    #expect(read.end == 50 && read.ids == (2..<50).filter { $0 != 10 } && read[10] == nil && read[50] == nil)
    #expect(read[0] == nil && read[1] == nil && read[.max] == nil)
    for (node, parent, lookups, isNameless) in nodes where node.id != 10 {
      let record = try #require(read[node.id])
      #expect(record.name == (node.id == 11 ? "moved" : node.name) && record.parent == (node.id == 11 ? 4 : parent))
      #expect(record.generation == node.generation && record.lookups == lookups)
      #expect(
        record.inode == node.inode && record.content == node.item.content && record.identity.kind == node.item.kind)
      #expect(record.isConcealed == node.id.isMultiple(of: 5), "\(node.id)")
      #expect(record.isNameless == (isNameless && node.id != 14), "\(node.id)")
    }
  }

  /// The kernel forgets a folder after its entries, but one thread may read the first and be late.
  @Test func directoriesCanBeForgottenBeforeTheirEntries() throws {
    let table = NodeTable(root: Thing(.folder, 1))
    func lookUp(_ name: FileName, in folder: Node, _ item: Thing) throws -> Node {
      try table.lookUp(folder, name, Self.found(item), depth: 0).node
    }
    let first = try lookUp("first", in: table.root, Thing(.folder, 2))
    let entry = try lookUp("entry", in: first, Thing(.file, 3))
    table.forget(UInt64(first.id), 1)
    let second = try lookUp("second", in: table.root, Thing(.folder, 4))
    let inside = try lookUp("inside", in: second, Thing(.file, 5))
    table.forget(UInt64(entry.id), 1)
    let others = try (0..<20).map { try lookUp(FileName("other \($0)"), in: table.root, Thing(.file, 20 + $0)) }
    func surplus() -> Set<UInt32> { Set((table.surplus(over: 1) + table.surplus(over: 1)).map(\.id)) }
    // It is a working directory, or on the way to an open file.
    #expect(surplus() == Set((others + [inside]).map(\.id)))
    table.forget(UInt64(inside.id), 1)
    #expect(surplus() == Set((others + [second]).map(\.id)))
    for node in others + [second] { table.forget(UInt64(node.id), 1) }
    #expect(table.count == 1)
    // All numbers can be given again.
    var numbers: Set<UInt32> = []
    for number in 0..<24 {
      numbers.insert(try lookUp(FileName("\(number)"), in: table.root, Thing(.file, 10 + UInt64(number))).id)
    }
    #expect(numbers == Set(2..<26))
  }

  @Test func concurrentForgetsLeaveNoNodes() async throws {
    let table = NodeTable(root: Thing(.folder, 1))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for thread in 0..<4 {
        group.addTask {
          for round in 0..<2000 {
            let name = FileName("\(thread).\(round)")
            let inode = UInt64(thread * 100_000 + round * 10)
            let folder = try table.lookUp(table.root, name, Self.found(Thing(.folder, inode + 1)), depth: 0).node
            let file = try table.lookUp(folder, "f", Self.found(Thing(.file, inode + 2)), depth: 0).node
            for id in round.isMultiple(of: 2) ? [folder.id, file.id] : [file.id, folder.id] {
              table.forget(UInt64(id), 1)
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(table.count == 1)
  }

  /// An item that itself asks the table would wait for ever.
  @Test func itemsAreQueriedOutsideTheLock() throws {
    let table = NodeTable(root: Thing(.folder, 1))
    for _ in 0..<3 {
      let item = Thing(.file, 2) { _ = table.count }
      let node = try table.lookUp(table.root, "a", Self.found(item), depth: 0).node
      #expect(node.inode == 2)
    }
    table.forget(2, 3)
    #expect(table.count == 1)
  }

  /// A kept mount whose kernel knows more than can be recorded.
  @Test func nodesThatCannotBeRecordedAreRefused() throws {
    let path = NSTemporaryDirectory() + "ledger.\(UUID().uuidString)"
    let file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer {
      close(file)
      _ = unsafe unlink(path)
    }
    let ledger = try PersistentNodeTable(Descriptor(owning: fcntl(file, F_DUPFD_CLOEXEC, 3)), at: 0, limit: 5)
    let table = NodeTable(root: Thing(.folder, 1), ledger: ledger)
    func lookUp(_ number: UInt64) throws -> Node {
      try table.lookUp(table.root, FileName("\(number)"), Self.found(Thing(.file, number)), depth: 0).node
    }
    let nodes = try (10..<13).map { try lookUp($0) }
    #expect(throws: Fault.self) { try lookUp(13) }
    #expect(try lookUp(12).id == nodes[2].id)
    // Another file under a name that is known.
    #expect(throws: Fault.self) {
      try table.lookUp(table.root, "12", Self.found(Thing(.file, 99)), depth: 0)
    }
    #expect(table.count == 4)
    table.forget(UInt64(nodes[0].id), 1)
    #expect(try lookUp(14).id == nodes[0].id)
    #expect(ledger.end == 5)
  }
}
