import Bytes
import Files
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Tree

@Suite struct NodeTests {
  /// A tree of files, folders and nested archives.
  static func makeTree() throws -> (source: SourceFolder, tree: TreeInProcess) {
    let source = try SourceFolder()
    try source.makeFolder("d")
    for name in ["a.txt", "d/b.txt"] { try source.write(FileName(name), name) }
    let inner = ZipFixture(ZipFixtureEntry("in.txt", "inside"), ZipFixtureEntry("d/x", "x"))
    try source.write(
      "a.zip", ZipFixture(ZipFixtureEntry("inner.zip", inner.bytes()).deflated(), ZipFixtureEntry("t", "t")))
    return (source, try TreeInProcess(source))
  }

  @Test func lookupsAreCountedAndForgotten() throws {
    let (_, walker) = try Self.makeTree()
    let tree = walker.tree
    let before = tree.nodeCount
    let folder = try tree.lookUp("d", in: Tree.root, .blocking)
    // The counter works; otherwise the rest would show nothing.
    #expect(tree.nodeCount == before + 1)
    let file = try tree.lookUp("b.txt", in: folder.node, .blocking)
    let again = try tree.lookUp("b.txt", in: folder.node, .blocking)
    #expect(again.node == file.node && again.generation == file.generation)
    #expect(tree.nodeCount == before + 2)
    tree.forget(file.node, 1)
    #expect(tree.nodeCount == before + 2)
    _ = try tree.attributes(file.node, .blocking)
    tree.forget(file.node, 1)
    #expect(tree.nodeCount == before + 1)
    #expect(throws: Fault.stale) { try tree.attributes(file.node, .blocking) }
    tree.forget(folder.node, 1)
    #expect(tree.nodeCount == before)
  }

  @Test func failedLookupAddsNoNode() throws {
    let (_, walker) = try Self.makeTree()
    let before = walker.tree.nodeCount
    #expect(throws: Fault.notFound) { try walker.tree.lookUp("gone", in: Tree.root, .blocking) }
    #expect(throws: Fault.stale) { try walker.tree.lookUp("a.txt", in: 999, .blocking) }
    #expect(walker.tree.nodeCount == before)
  }

  @Test func fullTreeWalkLeavesNoNode() throws {
    let (_, walker) = try Self.makeTree()
    let before = walker.tree.nodeCount
    let first = try walker.walk()
    #expect(first.count == 11)
    #expect(walker.tree.nodeCount == before)
  }

  @Test func rootIsNeverForgotten() throws {
    let (_, walker) = try Self.makeTree()
    walker.tree.forget(Tree.root, 1_000_000)
    #expect(try walker.tree.attributes(Tree.root, .blocking).0.kind == .folder)
  }

  @Test func reusedNodeNumberHasAnotherGeneration() throws {
    let (_, walker) = try Self.makeTree()
    let tree = walker.tree
    let one = try tree.lookUp("a.txt", in: Tree.root, .blocking)
    tree.forget(one.node, 1)
    let other = try tree.lookUp("a.zip", in: Tree.root, .blocking)
    #expect(other.node != one.node || other.generation != one.generation)
  }

  /// A generated file is a different node if its source becomes unreadable to the caller; a folder is the same for all.
  @Test func fileThatBecomesUnreadableIsAnotherNode() throws {
    let source = try SourceFolder()
    try source.write("a.csv", "a,b\n")
    try source.write("a.zip", ZipFixture(ZipFixtureEntry("x", "y")))
    let walker = try TreeInProcess(source)
    for (name, isSame) in [("a.csv.as-html", false), ("a.zip.contents", true)] as [(FileName, Bool)] {
      try walker.withNode(name) { id in
        let node = try walker.tree.nodes.node(id)
        var found = LookupResult(node.item, try node.item.attributes(.blocking))
        #expect(node.stands(for: found))
        found.secrecy = .guarded
        #expect(node.stands(for: found))
        found.secrecy = .concealed
        #expect(node.stands(for: found) == isSame, "\(name.text)")
      }
    }
  }

  /// An item refers to the file that was found, not to the present file of that name.
  @Test func itemOfAReplacedFileIsStale() throws {
    let source = try SourceFolder()
    try source.write("a", "one")
    try source.write("b", "another")
    let root = try RealRoot(Descriptor.open(path: source.path, for: .place), pool: DescriptorPool(capacity: 8))
    let folder = try RealFolder(root: root)
    let item = try #require(try folder.child(named: "a", .blocking)).item
    #expect(try item.open(pinned: true, .blocking).size == 3)
    try source.rename("b", to: "a")
    #expect(throws: Fault.stale) { _ = try item.open(pinned: true, .blocking) }
    #expect(throws: Fault.stale) { _ = try item.attributes(.blocking) }
    try source.remove("a")
    try source.makeFolder("a")
    #expect(throws: Fault.self) { _ = try item.open(pinned: true, .blocking) }
  }

  @Test func viewsOfAFileHaveDistinctInodeNumbers() throws {
    let source = try SourceFolder()
    try source.write("a.csv", "a,b\n1,2\n")
    let walker = try TreeInProcess(source)
    let inodes = try ["a.csv", "a.csv.as-html", "a.csv.as-txt"].map { try walker.stat(FileName($0)).inode }
    #expect(Set(inodes).count == 3)
    #expect(try walker.text("a.csv.as-html").contains("<table") && walker.text("a.csv.as-txt").contains("a  b"))
  }

  @Test func replacedFileGetsANewNode() throws {
    let (source, walker) = try Self.makeTree()
    let tree = walker.tree
    let old = try tree.lookUp("a.txt", in: Tree.root, .blocking)
    // Written beside the old one, so that it cannot get the same inode number.
    try source.write("new", "new")
    try source.rename("new", to: "a.txt")
    let new = try tree.lookUp("a.txt", in: Tree.root, .blocking)
    #expect(new.node != old.node)
    #expect(throws: Fault.stale) { try tree.attributes(old.node, .blocking) }
    tree.forget(old.node, 1)
    #expect(try tree.attributes(new.node, .blocking).0.size == 3)
    tree.forget(new.node, 1)
  }

  @Test func concurrentLookupsAndForgetsBalance() throws {
    let source = try SourceFolder()
    for index in 0..<300 { try source.write(FileName("f\(index)"), "x") }
    let tree = try TreeInProcess(source).tree
    let before = tree.nodeCount
    try onThreads(8) { thread in
      var numbers = SeededNumbers(seed: UInt64(thread))
      var held: [UInt64] = []
      for _ in 0..<1000 {
        if held.isEmpty || numbers.below(5) < 3 {
          let name = FileName("f\(numbers.below(300))")
          let entry = try tree.lookUp(name, in: Tree.root, .blocking)
          held.append(entry.node)
        } else {
          tree.forget(held.remove(at: numbers.below(held.count)), 1)
        }
      }
      for node in held { tree.forget(node, 1) }
    }
    #expect(tree.nodeCount == before)
  }

  @Test func surplusListsExistingNodes() throws {
    let source = try SourceFolder()
    for index in 0..<100 { try source.write(FileName("f\(index)"), "x") }
    let tree = try TreeInProcess(source).tree
    let nodes = try (0..<100).map { try tree.lookUp(FileName("f\($0)"), in: Tree.root, .blocking).node }
    #expect(tree.surplus(over: 1000).isEmpty)
    let surplus = tree.surplus(over: 40)
    #expect(surplus.count >= 60 && surplus.allSatisfy { $0.folder == Tree.root })
    #expect(Set(surplus.map(\.name)).count == surplus.count)
    for node in nodes { tree.forget(node, 1) }
  }

  @Test func forgottenNodesAreNotSurplus() throws {
    let source = try SourceFolder()
    for index in 0..<100 { try source.write(FileName("f\(index)"), "x") }
    let tree = try TreeInProcess(source).tree
    let nodes = try (0..<100).map { try tree.lookUp(FileName("f\($0)"), in: Tree.root, .blocking).node }
    #expect(tree.hasSurplus(over: 40))
    for node in nodes { tree.forget(node, 1) }
    #expect(!tree.hasSurplus(over: 40) && tree.surplus(over: 40).isEmpty)
  }

  /// The kernel may be asked to forget an archive's folder only if nothing in it is known: it may be a process's
  /// current folder.
  @Test func directoryWithKnownEntriesIsNotSurplus() throws {
    let source = try SourceFolder()
    let entries = (0..<10).map { ZipFixtureEntry("d\($0)/x", "x") }
    try source.write("a.zip", ZipFixture(entries))
    let tree = try TreeInProcess(source).tree
    let view = try tree.lookUp("a.zip.contents", in: Tree.root, .blocking).node
    let folders = try (0..<10).map { try tree.lookUp(FileName("d\($0)"), in: view, .blocking).node }
    let files = try folders.map { try tree.lookUp("x", in: $0, .blocking).node }
    // A limit far below the number of known nodes, so that every candidate is returned.
    let limit = 3
    #expect(Set(tree.surplus(over: limit).map(\.name)) == ["x"])
    for file in files { tree.forget(file, 1) }
    let freed = Set(tree.surplus(over: limit).map(\.name))
    #expect(!freed.isEmpty && freed.isSubset(of: Set((0..<10).map { FileName("d\($0)") })))
    for node in folders + [view] { tree.forget(node, 1) }
  }

  @Test func closedFilesAreNotRetained() throws {
    let source = try SourceFolder()
    for index in 0..<700 { try source.write(FileName("f\(index)"), "x") }
    let tree = try TreeInProcess(source).tree
    let nodes = try (0..<700).map { try tree.lookUp(FileName("f\($0)"), in: Tree.root, .blocking).node }
    for node in nodes { _ = try tree.open(node, .blocking) }
    #expect(try nodes.allSatisfy { try tree.nodes.node($0).opened.real == nil })
    let file = try tree.open(nodes[0], .blocking)
    #expect(try tree.nodes.node(nodes[0]).opened.count == 1)
    withExtendedLifetime(file) {}
    for node in nodes { tree.forget(node, 1) }
  }

  /// Those of a folder whose name only begins like the root's are none below it.
  @Test func absoluteSymlinksResolveOnlyInsideTheTree() throws {
    let source = try SourceFolder()
    try source.makeFolder("2")
    try source.write("2/x", "inside")
    for (name, target) in [("in", "/2/x"), ("top", ""), ("beside", "2/x")] {
      #expect(unsafe symlink(source.path + target, source.path + "/" + name) == 0)
    }
    let walker = try TreeInProcess(source)
    func kind(_ name: FileName) throws -> Kind {
      try ResolvedPath.find([name], in: walker.tree, source: source.path, .blocking).attributes.kind
    }
    #expect(try kind("in") == .file && kind("top") == .folder)
    let fault = #expect(throws: Fault.self) { try kind("beside") }
    #expect(fault?.kind == .system(EACCES))
  }
}
