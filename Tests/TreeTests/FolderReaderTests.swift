import Bytes
import Files
import TestSupport
import Testing
@testable import Tree

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

  /// The next process of a mount has no other state than the kernel's cookies.
  @Test(arguments: ["", "many.zip.contents"]) func cookiesAreValidInOtherHandles(folder: String) throws {
    let (source, walker) = try Self.makeTree()
    let folder = FileName(folder)
    let all = try walker.rows(folder)
    try walker.withNode(folder) { node in
      func next(after cookie: UInt64) throws -> String? {
        let reader = try walker.ask { (blocking) throws(Fault) in try walker.tree.openFolder(node, blocking) }
        return try walker.read(reader, after: cookie, count: 1).first?.name.text
      }
      for index in stride(from: 0, to: all.count, by: 13) {
        #expect(try next(after: all[index].cookie) == (index + 1 < all.count ? all[index + 1].name.text : nil))
      }
      #expect(try next(after: all[all.count - 1].cookie) == nil)
      guard folder == "" else { return }
      // Names that disappear or appear before the position do not move it, and the file at it may be one of these.
      for index in stride(from: 7, to: all.count - 3, by: 17) {
        let (before, here, after) = (all[index - 1], all[index], all[index + 1])
        guard !here.name.text.hasSuffix(".contents"), !after.name.text.hasSuffix(".contents") else { continue }
        for gone in [before, here] where !gone.name.text.hasSuffix(".contents") { try source.remove(gone.name) }
        try source.write(FileName("new \(index)"), [])
        let found = try next(after: here.cookie)
        #expect(found == after.name.text || found?.hasPrefix("new ") == true)
      }
      // A file whose view would be the next row.
      let now = try walker.rows(folder)
      let zip = try #require(now.firstIndex { $0.name.text.hasSuffix("99.zip") })
      try source.remove(now[zip].name)
      #expect(try next(after: now[zip].cookie) == now[zip + 2].name.text)
    }
  }

  /// Files without an extension are opened, so that the directory's descriptor is closed meanwhile.
  @Test func directoryIsReadAgainAfterItsEnd() throws {
    let source = try SourceFolder()
    for index in 0..<40 { try source.write(FileName("\(index)"), "text") }
    let walker = try TreeInProcess(source, descriptors: 1)
    let reader = try walker.tree.openFolder(Tree.root, .blocking)
    var last: UInt64 = 0
    while let row = try walker.read(reader, after: last, count: 100).last { last = row.cookie }
    #expect(try walker.read(reader, after: last, count: 100).isEmpty)
    #expect(try walker.read(reader, after: 0, count: 100).count == 42)
  }

  @Test(arguments: [0, 1, 5, 1 << 31, 1 << 43, 1 << 44, 1 << 59, 1 << 60, 0x7123_4567_89ab_cdef, Int64.max])
  func positionsHaveNumbers(offset: Int64) {
    let position = RowPosition(before: offset)
    #expect(position.number >= 2 && position.number <= UInt64(Int64.max))
    // Large offsets lose bits, downwards.
    let lost = offset - RowPosition(number: position.number).offset
    #expect(offset < 1 << 60 ? lost == 0 : (0..<8).contains(lost))
    let inside = RowPosition(before: offset, passed: 2, of: "a.zip")
    let found = RowPosition(number: inside.number)
    #expect(found.passed == 2 && found.tag == inside.tag && inside.number <= UInt64(Int64.max))
    #expect(inside.number != position.number)
    #expect(offset < 1 << 44 ? found.offset == offset : (0..<1 << 19).contains(offset - found.offset))
    #expect(RowPosition(before: offset, passed: 900, of: "a.zip").number <= UInt64(Int64.max))
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
