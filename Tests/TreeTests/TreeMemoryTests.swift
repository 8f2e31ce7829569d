import Bytes
import TestSupport
import Testing
import Threads

@testable import Tree

/// Trees are evicted and reloaded under memory pressure; what they show stays the same.
@Suite struct TreeMemoryTests {
  private static func archive(_ name: String, count: Int) -> ZipFixture {
    ZipFixture((0..<count).map { ZipFixtureEntry("\(name) \($0 % 7)/file \($0)", "\(name)\($0)") })
  }

  /// The contents of an archive, in a comparable form.
  private func look(_ tree: TreeInProcess, _ name: String) throws -> [String] {
    let file = FileName("\(name).zip.contents/\(name) 3/file 10")
    let names = try tree.list(FileName("\(name).zip.contents/\(name) 3"))
    let status = try tree.stat(file)
    let text = try tree.read(file, at: 0, count: 100)
    return names.map(\.text) + ["\(status.inode) \(status.size)", String(decoding: text, as: UTF8.self)]
  }

  @Test func archivesExceedingMemoryTogetherAreReadInTurn() throws {
    let source = try SourceFolder()
    for name in ["a", "b", "c"] { try source.write(FileName("\(name).zip"), Self.archive(name, count: 700)) }
    // Each tree takes more than half of it.
    let memory = MemoryBudget(capacity: 120 << 10)
    let tree = try TreeInProcess(source, keepsNodes: true, memory: memory)
    let first = try ["a", "b", "c"].map { try look(tree, $0) }
    #expect(first.map(\.last) == ["a10", "b10", "c10"] && first.map(\.count) == [102, 102, 102])
    // The nodes of all of them are still known.
    #expect(tree.tree.nodeCount == 10)
    for _ in 0..<3 {
      #expect(try ["a", "b", "c"].map { try look(tree, $0) } == first)
      #expect(memory.used <= memory.capacity)
    }
  }

  @Test func oversizedArchiveAffectsNoOtherArchive() throws {
    let source = try SourceFolder()
    try source.write("bomb.zip", Self.archive("bomb", count: 5000))
    try source.write("a.zip", Self.archive("a", count: 700))
    let tree = try TreeInProcess(source, keepsNodes: true, memory: MemoryBudget(capacity: 120 << 10))
    let first = try look(tree, "a")
    for _ in 0..<2 {
      #expect(throws: FileTreeError.self) { try tree.list("bomb.zip.contents") }
      #expect(try look(tree, "a") == first)
    }
    #expect(try tree.stat("bomb.zip").kind == .file)
    let said = String(decoding: try tree.attribute("bomb.zip.contents", "user.ffmount.error"), as: UTF8.self)
    #expect(said == "bomb.zip: it has more names than fit in 120 KiB of memory (-o memory=)")
  }

  @Test func openHandlesSurviveEvictionOfTheirTree() throws {
    let source = try SourceFolder()
    for name in ["a", "b"] { try source.write(FileName("\(name).zip"), Self.archive(name, count: 700)) }
    let walker = try TreeInProcess(source, keepsNodes: true, memory: MemoryBudget(capacity: 120 << 10))
    try walker.withNode("a.zip.contents/a 3") { folder in
      try walker.withNode("a.zip.contents/a 3/file 10") { file in
        let reader = try walker.ask { (blocking) throws(Fault) in try walker.tree.openFolder(folder, blocking) }
        let opened = try walker.ask { (blocking) throws(Fault) in try walker.tree.open(file, blocking) }
        let some = try walker.read(reader, after: 0, count: 10)
        // Evicts the other tree.
        _ = try look(walker, "b")
        let rest = try walker.read(reader, after: some.last?.cookie ?? 0, count: 1000)
        #expect(some.count + rest.count == 102 && Set((some + rest).map(\.name)).count == 102)
        #expect(try opened.source.bytes(at: 0, count: 3) == Array("a10".utf8))
      }
    }
  }
}
