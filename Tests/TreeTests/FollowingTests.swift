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

  private static func names(_ tree: Tree) -> Set<String> {
    Set(
      tree.consequences().compactMap { consequence in
        if case .name(let name, _) = consequence { return name.text }
        return nil
      })
  }

  /// An editor's swap file is no reason to look up everything beside it again.
  @Test func onlyViewsOfWhatChangedAreLookedUpAgain() throws {
    let source = try SourceFolder()
    try source.makeFolder("folder")
    try source.write("folder/1.png", "1")
    let zip = ZipFixture(ZipFixtureEntry("x", "y"))
    for name: FileName in ["a.zip", "ab.zip", "folder.zip"] { try source.write(name, zip) }
    for name: FileName in ["t.csv", "photo.001.csv", "photo.002.csv"] { try source.write(name, "a,b\n") }
    let tree = try Self.tree(source)
    let maker = Tree.Maker(asker: nil, umask: 0)
    let views: [FileName] = [
      "a.zip.contents", "ab.zip.contents", "folder.zip.contents", "t.csv.as-txt", "photo.001.csv.as-html",
      "photo.002.csv.as-html", "folder.merged.pdf",
    ]
    for name in views { _ = try tree.lookUp(name, in: Tree.root, .blocking) }
    let folder = try tree.lookUp("folder", in: Tree.root, .blocking).node
    _ = tree.consequences()
    let changes: [(FileName, UInt64, Set<String>)] = [
      (".a.zip.swp", Tree.root, []), ("4913", Tree.root, []), (".t.csv.swx", Tree.root, []), ("a", Tree.root, []),
      ("x.y", Tree.root, []), ("photo", Tree.root, []), ("photo.003.csv", Tree.root, []),
      ("a.z01", Tree.root, ["a.zip.contents"]), ("2.png", folder, ["folder.merged.pdf"]),
    ]
    for (name, node, expected) in changes {
      let made = try tree.create(name, in: node, flags: O_RDWR | O_EXCL, permissions: 0o644, by: maker)
      #expect(Self.names(tree) == expected, "\(name.text)")
      tree.forget(made.0.node, 1)
      try tree.remove(name, in: node, isFolder: false)
      #expect(Self.names(tree) == expected, "\(name.text)")
    }
    for (name, expected) in [
      ("a.zip", ["a.zip.contents"]), ("t.csv", ["t.csv.as-txt"]), ("photo.001.csv", ["photo.001.csv.as-html"]),
    ] as [(FileName, Set<String>)] {
      let node = try tree.lookUp(name, in: Tree.root, .blocking).node
      var wish = Tree.AttributeChanges()
      wish.permissions = 0o640
      _ = try tree.change(node, wish, of: nil, for: nil)
      #expect(Self.names(tree) == expected, "\(name.text)")
    }
    // The folder itself, by its new name.
    try tree.rename("folder", in: Tree.root, to: "other", in: Tree.root, flags: 0)
    #expect(Self.names(tree) == ["folder.merged.pdf"])
  }

  /// As deployments do. In between it is not an empty folder.
  @Test(arguments: [true, false]) func removedSourceIsShownAgain(_ isWritable: Bool) throws {
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
