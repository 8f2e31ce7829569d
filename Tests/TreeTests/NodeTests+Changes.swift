import Bytes
import Files
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Tree

/// Nodes of what changes, and of what is let go.
extension NodeTests {
  /// A process's current folder was replaced by another one under its name.
  @Test func replacedDirectoryIsStale() throws {
    let source = try SourceFolder()
    for folder in ["d", "e"] {
      try source.makeFolder(FileName(folder))
      try source.write(FileName("\(folder)/a"), folder)
    }
    // With one descriptor, the folder is reopened each time.
    let walker = try TreeInProcess(source, descriptors: 1)
    let folder = try walker.tree.lookUp("d", in: Tree.root, .blocking).node
    let file = try walker.tree.lookUp("a", in: folder, .blocking).node
    _ = try walker.list("e")
    try source.rename("d", to: "old")
    try source.rename("e", to: "d")
    #expect(throws: Fault.stale) { try walker.tree.lookUp("a", in: folder, .blocking) }
    #expect(throws: Fault.stale) { try walker.tree.openFolder(folder, .blocking) }
    #expect(throws: Fault.stale) { try walker.tree.attributes(folder, .blocking) }
    walker.tree.forget(file, 1)
    walker.tree.forget(folder, 1)
  }

  /// A view's folder stays valid when its source changes; a file in it only if it shows the same.
  @Test func openViewShowsTheCurrentSource() throws {
    let source = try SourceFolder()
    try source.write("a.zip", ZipFixture(ZipFixtureEntry("d/t", "one")))
    let walker = try TreeInProcess(source, keepsNodes: true)
    let tree = walker.tree
    try walker.withNode("a.zip.contents/d") { folder in
      _ = try tree.openFolder(folder, .blocking)
      try source.write("a.zip", ZipFixture(ZipFixtureEntry("d/t", "another"), ZipFixtureEntry("d/u", "")))
      _ = usleep(5000)
      let file = try tree.lookUp("t", in: folder, .blocking)
      #expect(file.attributes.size == 7)
      #expect(throws: Fault.notFound) { try tree.lookUp("none", in: folder, .blocking) }
      try source.write("a.zip", ZipFixture(ZipFixtureEntry("d/t", "a third"), ZipFixtureEntry("d/u", "")))
      _ = usleep(5000)
      #expect(throws: Fault.stale) { try tree.open(file.node, .blocking) }
      #expect(throws: Fault.stale) { try tree.attributes(file.node, .blocking) }
      tree.forget(file.node, 1)
    }
    #expect(try walker.list("a.zip.contents/d").map(\.text) == ["t", "u"])
  }

  @Test func releasedTreeClosesAllDescriptors() throws {
    let source = try SourceFolder()
    let inner = ZipFixture(ZipFixtureEntry("in.txt", "inside"))
    try source.makeFolder("d")
    for name in ["a.zip", "d/b.zip"] {
      try source.write(FileName(name), ZipFixture(ZipFixtureEntry("inner.zip", inner.bytes())))
    }
    do {
      let walker = try TreeInProcess(source)
      for path in try walker.walk() where path.bytes.last != 0x2f { _ = try walker.readAll(path) }
      // The counter works.
      #expect(try source.openDescriptors() > 1)
    }
    #expect(try source.openDescriptors() == 0)
  }

  @Test func nonblockingOpenDoesNotReadLargeArchives() throws {
    let (source, walker) = try Self.makeTree()
    try source.write("a.zip", ZipFixture(ZipFixtureEntry("in", String(repeating: "x", count: 300 << 10))))
    let tree = walker.tree
    // A listed view is found without opening its source.
    let view = try tree.lookUp("a.zip.contents", in: Tree.root, .immediate)
    _ = try tree.attributes(view.node, .immediate)
    #expect(throws: Fault.later) { _ = try tree.openFolder(view.node, .immediate) }
    _ = try tree.openFolder(view.node, .blocking)
    _ = try tree.openFolder(view.node, .immediate)
    tree.forget(view.node, 1)
  }

  @Test func unchangedFileKeepsItsCache() throws {
    let (source, walker) = try Self.makeTree()
    let tree = walker.tree
    let entry = try tree.lookUp("a.txt", in: Tree.root, .blocking)
    #expect(try !tree.open(entry.node, .blocking).keepsCache)
    #expect(try tree.open(entry.node, .blocking).keepsCache)
    try source.write("a.txt", "changed, and longer")
    #expect(try !tree.open(entry.node, .blocking).keepsCache)
    tree.forget(entry.node, 1)
  }

  @Test func openEntryNeverMixesTwoArchives() throws {
    let source = try SourceFolder()
    func archive(_ byte: UInt8) -> [UInt8] {
      ZipFixture(ZipFixtureEntry("stored", [UInt8](repeating: byte, count: 500_000))).bytes()
    }
    try source.write("a.zip", archive(1))
    let walker = try TreeInProcess(source, keepsNodes: true)
    try walker.withNode("a.zip.contents/stored") { node in
      let file = try walker.tree.open(node, .blocking)
      let head = try file.source.partialBytes(at: 0, count: 1000)
      #expect(head == Array(repeating: 1, count: 1000))
      // The same size, written in place: only the time differs.
      try source.write("a.zip", archive(2))
      try source.setModified("a.zip", Timestamp(seconds: 5))
      #expect(throws: Fault.self) { try file.source.partialBytes(at: 1000, count: 1000) }
    }
    #expect(try walker.read("a.zip.contents/stored", at: 1000, count: 3) == [2, 2, 2])
  }
}
