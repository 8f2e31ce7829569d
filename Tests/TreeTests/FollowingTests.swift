import AllViews
import Bytes
import Files
import Glibc
import Jobs
import RenditionViews
import TestSupport
import Testing
import Threads

@testable import Tree

/// What follows from changes: in a tree that can be written, and of its source.
@Suite struct FollowingTests {
  private static func tree(_ source: SourceFolder, isWritable: Bool = true) throws -> Tree {
    let conversions = Conversions(
      ConversionPool.Options(program: "/nonexistent"), cache: nil, index: nil, spools: "/tmp")
    let root = try RealRoot(
      Descriptor.open(path: source.path, for: .place), pool: DescriptorPool(capacity: 64), path: source.path)
    return try Tree(
      mirroring: root,
      views: Views(listing: ViewListing(), depth: 4, conversions: conversions, memory: MemoryBudget()),
      isWritable: isWritable)
  }

  /// What is made of a file is that file's as soon as the call that changes it returns: the kernel keeps no name of it.
  @Test func viewsReflectAChangeBeforeItReturns() throws {
    let source = try SourceFolder()
    try source.makeFolder("folder")
    try source.write("folder/1.png", "1")
    try source.write("a.zip", ZipFixture(ZipFixtureEntry("x", "y")))
    try source.write("t.csv", "a,b\n")
    let tree = try Self.tree(source)
    for (name, isView) in [
      ("a.zip", false), ("a.zip.contents", true), ("t.csv.as-txt", true), ("folder.merged.pdf", true),
      ("folder", false),
    ] as [(FileName, Bool)] {
      let entry = try tree.lookUp(name, in: Tree.root, .blocking)
      #expect((entry.lifetime == 0) == isView, "\(name.text)")
    }
    let contents = try tree.lookUp("a.zip.contents", in: Tree.root, .blocking).node
    #expect(try tree.lookUp("x", in: contents, .blocking).lifetime > 0)
    try tree.rename("t.csv", in: Tree.root, to: "u.csv", in: Tree.root, flags: 0)
    #expect(throws: Fault.self) { try tree.lookUp("t.csv.as-txt", in: Tree.root, .blocking) }
    _ = try tree.lookUp("u.csv.as-txt", in: Tree.root, .blocking)
    // Again and again, so that a check of a millisecond ago does not do.
    for round in 0..<50 {
      let zip = try tree.lookUp("a.zip", in: Tree.root, .blocking).node
      let file = try tree.open(zip, flags: O_RDWR | O_TRUNC, for: nil)
      let bytes = ZipFixture(ZipFixtureEntry("x\(round)", "y")).bytes()
      _ = try unsafe bytes.withUnsafeBytes { (bytes) throws(Fault) in unsafe try file.write(bytes, at: 0, for: nil) }
      let contents = try tree.lookUp("a.zip.contents", in: Tree.root, .blocking).node
      _ = try tree.lookUp(FileName("x\(round)"), in: contents, .blocking)
      if round > 0 {
        #expect(throws: Fault.self) { try tree.lookUp(FileName("x\(round - 1)"), in: contents, .blocking) }
      }
    }
  }

  @Test(arguments: [true, false]) func onlyAbsentNamesThatNoViewCanHaveAreCached(_ isWritable: Bool) throws {
    let source = try SourceFolder()
    try source.makeFolder("d")
    try source.write("a.zip", ZipFixture(ZipFixtureEntry("x", "y")))
    let tree = try Self.tree(source, isWritable: isWritable)
    let folder = try tree.lookUp("d", in: Tree.root, .blocking).node
    let contents = try tree.lookUp("a.zip.contents", in: Tree.root, .blocking).node
    for (name, parent, mayBeCached) in [
      ("new", Tree.root, true), ("new.o", Tree.root, true), (".git", folder, true), ("t.h", folder, true),
      ("t.csv.as-txt", folder, false), ("b.zip.contents", Tree.root, false), ("d.merged.pdf", Tree.root, false),
      ("b.compressed.pdf", folder, false), (".search", Tree.root, false), ("new", contents, false),
    ] as [(FileName, UInt64, Bool)] {
      #expect(tree.mayRemember(absent: name, in: parent) == (isWritable && mayBeCached), "\(name.text)")
    }
  }

  /// As deployments do. In between it is not an empty folder.
  @Test(arguments: [true, false]) func recreatedSourceDirectoryIsShownAgain(_ isWritable: Bool) throws {
    let source = try SourceFolder()
    try source.makeFolder("d")
    try source.write("d/a", "old")
    try source.write("a.zip", ZipFixture(ZipFixtureEntry("x", "y")))
    let tree = try Self.tree(source, isWritable: isWritable)
    func names() throws -> [String] {
      var names: [String] = []
      try tree.openFolder(Tree.root, .blocking).read(after: 0, .blocking) { (row, _) throws(Fault) in
        names.append(row.name.fileName.text)
        return true
      }
      return names.dropFirst(2).sorted()
    }
    let folder = try tree.lookUp("d", in: Tree.root, .blocking).node
    let before = try tree.attributes(Tree.root, .blocking).0
    for round in 0..<2 {
      try source.remove("d/a")
      _ = unsafe rmdir(source.path + "/d")
      try source.remove("a.zip")
      guard unsafe rmdir(source.path) == 0 else { throw FileTreeError(errno: errno) }
      #expect(throws: Fault.self) { try names() }
      #expect(throws: Fault.self) { try tree.lookUp("d", in: Tree.root, .blocking) }
      _ = unsafe mkdir(source.path, 0o755)
      try source.makeFolder("d")
      try source.write("d/a", "new \(round)")
      try source.write("a.zip", ZipFixture(ZipFixtureEntry("z\(round)", "y")))
      let found = try tree.lookUp("d", in: Tree.root, .blocking).node
      let file = try tree.lookUp("a", in: found, .blocking)
      #expect(file.attributes.size == 5)
      #expect(try names() == ["a.zip", "a.zip.contents", "d"])
      let view = try tree.lookUp("a.zip.contents", in: Tree.root, .blocking).node
      _ = try tree.lookUp(FileName("z\(round)"), in: view, .blocking)
      #expect(try tree.attributes(Tree.root, .blocking).0.inode == before.inode)
      tree.forget(file.node, 1)
      tree.forget(view, 1)
    }
    _ = folder
    // By another user, or as a link to somewhere else, it is not taken.
    for name in ["d/a", "a.zip"] { try source.remove(FileName(name)) }
    _ = unsafe rmdir(source.path + "/d")
    _ = unsafe rmdir(source.path)
    _ = unsafe symlink("/etc", source.path)
    #expect(throws: Fault.self) { try names() }
    #expect(throws: Fault.self) { try tree.lookUp("passwd", in: Tree.root, .blocking) }
    _ = unsafe unlink(source.path)
    _ = unsafe mkdir(source.path, 0o755)
    if unsafe chown(source.path, 4002, 4002) == 0 {
      #expect(throws: Fault.self) { try names() }
    }
  }
}
