import Bytes
import Files
import TestSupport
import Testing
import Tree

@Suite struct FolderReaderTests {
  /// Real names with views between them, and an archive of many names.
  private static func makeTree(descriptors: Int = 64) throws -> (source: SourceFolder, tree: TreeInProcess) {
    let source = try SourceFolder()
    for index in 0..<1500 {
      try source.write(FileName("a rather long name of a file \(index)\(index % 3 == 0 ? ".zip" : "")"), [])
    }
    try source.write("many.zip", ZipFixture((0..<1000).map { ZipFixtureEntry("f\($0)\($0 % 3 == 0 ? ".zip" : "")") }))
    return (source, try TreeInProcess(source, descriptors: descriptors))
  }

  @Test(arguments: ["", "many.zip.contents"], [1, 64])
  func listingCanResumeFromAnyCookie(folder: String, descriptors: Int) throws {
    let (_, walker) = try Self.makeTree(descriptors: descriptors)
    let folder = FileName(folder)
    let all = try walker.rows(folder)
    #expect(all.count > 1300)
    try walker.withNode(folder) { node in
      let reader = try walker.ask { (blocking) throws(Fault) in try walker.tree.openFolder(node, blocking) }
      var numbers = SeededNumbers(seed: 1)
      for _ in 0..<60 {
        let place = numbers.below(all.count)
        let count = 1 + numbers.below(40)
        let rows = try walker.read(reader, after: all[place].cookie, count: count)
        let expected = all[(place + 1)..<min(all.count, place + 1 + count)]
        #expect(rows.map(\.name) == expected.map(\.name))
        #expect(rows.map(\.cookie) == expected.map(\.cookie))
      }
    }
  }

  @Test(arguments: [1, 7, 10_000]) func listingIsIndependentOfReadSize(count: Int) throws {
    let (_, walker) = try Self.makeTree()
    let all = try walker.rows("")
    #expect(try walker.rows("", atATime: count).map(\.name) == all.map(\.name))
    #expect(Set(all.map(\.cookie)).count == all.count && !all.contains { $0.cookie == 0 })
  }

  /// What was read ahead is of the earlier state.
  @Test(arguments: [10, 300, 700]) func entriesReadAheadAreDiscardedAfterAChange(count: Int) throws {
    let (source, walker) = try Self.makeTree()
    try walker.withNode("many.zip.contents") { node in
      let reader = try walker.ask { (blocking) throws(Fault) in try walker.tree.openFolder(node, blocking) }
      var rows = try walker.read(reader, after: 0, count: count)
      for _ in 0..<300 {
        reader.prepare()
        rows += try walker.read(reader, after: rows.last?.cookie ?? 0, count: 1)
      }
      reader.prepare()
      try source.remove("many.zip")
      try source.write("many.zip", ZipFixture((0..<900).map { ZipFixtureEntry("f\($0)\($0 < 800 ? "" : " new")") }))
      while case let more = try walker.read(reader, after: rows.last?.cookie ?? 0, count: 50), !more.isEmpty {
        rows += more
      }
      let names = Set(rows.map(\.name.text))
      #expect(names.contains("f850 new") && !names.contains("f1000") && names.count > 100)
    }
  }

  @Test func listingStartsWithDotAndDotDot() throws {
    let (_, walker) = try Self.makeTree()
    let reader = try walker.tree.openFolder(Tree.root, .blocking)
    #expect(try walker.read(reader, after: 0, count: 2).map(\.name.text) == [".", ".."])
    // Rewound, it starts again.
    #expect(try walker.read(reader, after: 0, count: 2).map(\.name.text) == [".", ".."])
  }

  @Test func directoryHandleKnowsItsNode() throws {
    let (_, walker) = try Self.makeTree()
    try walker.withNode("many.zip.contents") { node in
      let reader = try walker.ask { (blocking) throws(Fault) in try walker.tree.openFolder(node, blocking) }
      #expect(node != Tree.root && reader.folder == node)
    }
    #expect(try walker.tree.openFolder(Tree.root, .blocking).folder == Tree.root)
  }

  @Test func everyRowHasAnEntry() throws {
    let (_, walker) = try Self.makeTree()
    let tree = walker.tree
    let before = tree.nodeCount
    for folder in ["", "many.zip.contents"] {
      try walker.withNode(FileName(folder)) { node in
        let reader = try walker.ask { (blocking) throws(Fault) in try tree.openFolder(node, blocking) }
        var count = 0
        try reader.read(after: 0, .blocking) { (row, entry) throws(Fault) in
          guard row.cookie > 2 else { return true }
          count += 1
          guard let entry = try entry() else {
            Issue.record("\(row.name.fileName.text) has no entry")
            return true
          }
          #expect(entry.attributes.kind == row.kind)
          tree.forget(entry.node, 1)
          return true
        }
        #expect(count > 1300)
      }
    }
    #expect(tree.nodeCount == before)
  }

  @Test func vanishedNameHasNoEntry() throws {
    let (source, walker) = try Self.makeTree()
    let reader = try walker.tree.openFolder(Tree.root, .blocking)
    var vanished = 0
    try reader.read(after: 0, .blocking) { (row, entry) throws(Fault) in
      // One whose views are told from its name: it has not been looked at yet.
      guard row.name.fileName == "a rather long name of a file 0.zip" else { return true }
      do { try source.remove(row.name.fileName) } catch { Issue.record(error) }
      if try entry() == nil { vanished += 1 }
      return true
    }
    #expect(vanished == 1)
  }

  @Test(arguments: ["", "many.zip.contents"]) func attributesMatchEntriesWithoutCreatingNodes(folder: String) throws {
    let (_, walker) = try Self.makeTree()
    let tree = walker.tree
    try walker.withNode(FileName(folder)) { node in
      var entries: [String: Attributes] = [:]
      try tree.openFolder(node, .blocking).read(after: 0, .blocking) { (row, entry) throws(Fault) in
        guard row.cookie > 2, let entry = try entry() else { return true }
        entries[row.name.fileName.text] = entry.attributes
        tree.forget(entry.node, 1)
        return true
      }
      let before = tree.nodeCount
      var most = 0
      try tree.openFolder(node, .blocking).readAttributes(after: 0, .blocking) { (row, attributes) throws(Fault) in
        guard row.cookie > 2 else { return true }
        let (found, expected) = (try attributes(), entries.removeValue(forKey: row.name.fileName.text))
        most = max(most, tree.nodeCount)
        #expect(found.map { "\($0)" } == expected.map { "\($0)" }, "\(row.name.fileName.text)")
        return true
      }
      #expect(entries.isEmpty)
      #expect(most == before)
    }
  }
}
