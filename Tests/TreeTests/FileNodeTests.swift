import AllViews
import Bytes
import Files
import Glibc
import Synchronization
import TestSupport
import Testing
import Threads

@testable import Tree

/// A file of the source is one node, whatever names it has.
@Suite struct FileNodeTests {
  private static func tree(_ source: SourceFolder, isWritable: Bool = true) throws -> Tree {
    let root = try RealRoot(
      Descriptor.open(path: source.path, for: .place), pool: DescriptorPool(capacity: 64), path: source.path)
    return try Tree(
      mirroring: root, views: Views(listing: ViewListing(), depth: 4, conversions: nil, memory: MemoryBudget()),
      isWritable: isWritable)
  }

  private static func lookUp(_ tree: Tree, _ name: FileName, in folder: UInt64 = Tree.root) throws -> UInt64 {
    try tree.lookUp(name, in: folder, .blocking).node
  }

  private static func size(_ tree: Tree, _ node: UInt64) throws -> Int64 {
    try tree.attributes(node, .blocking).0.size
  }

  @Test(arguments: [true, false]) func hardLinksShareOneNode(_ isWritable: Bool) throws {
    let source = try SourceFolder()
    try source.makeFolder("d")
    try source.write("a", "12345")
    try source.write("other", "12345")
    let tree = try Self.tree(source, isWritable: isWritable)
    let first = try Self.lookUp(tree, "a")
    // The second name is made once the first is known.
    try source.makeHardLink("d/b", to: "a")
    let folder = try Self.lookUp(tree, "d")
    #expect(try Self.lookUp(tree, "b", in: folder) == first)
    #expect(try Self.lookUp(tree, "other") != first)
    #expect(tree.nodeCount == 4)
    // By whichever name is left.
    try source.remove("a")
    #expect(try Self.size(tree, first) == 5)
    #expect(try Self.lookUp(tree, "b", in: folder) == first)
    _ = try tree.open(first, .blocking)
    // A new file under the old name is another one.
    try source.write("a", "123")
    let second = try Self.lookUp(tree, "a")
    #expect(second != first)
    #expect(try Self.size(tree, first) == 5 && Self.size(tree, second) == 3)
    tree.forget(first, 3)
    tree.forget(second, 1)
    tree.forget(folder, 1)
    #expect(tree.nodeCount == 2)
    // All its names have gone with it.
    #expect(try Self.size(tree, Self.lookUp(tree, "b", in: Self.lookUp(tree, "d"))) == 5)
  }

  /// A file that is moved in the source is the same one, and an earlier file's inode number does not make another one that.
  @Test func filesAreIdentifiedByInodeAndCreationTime() throws {
    let source = try SourceFolder()
    try source.write("a", "12345")
    let tree = try Self.tree(source)
    let first = try Self.lookUp(tree, "a")
    _ = unsafe rename(source.path + "/a", source.path + "/b")
    #expect(try Self.lookUp(tree, "b") == first)
    #expect(throws: Fault.self) { try tree.lookUp("a", in: Tree.root, .blocking) }
    #expect(try Self.size(tree, first) == 5)
    let folder = try Descriptor.open(path: source.path, for: .place)
    let before = try FileStatus(of: "b", in: folder.raw)
    for round in 0..<20 {
      try source.remove(round == 0 ? "b" : "c")
      _ = usleep(20_000)
      try source.write("c", "123")
      let status = try FileStatus(of: "c", in: folder.raw)
      guard status.created != nil else { return }
      guard status.inode == before.inode else { continue }
      #expect(try Self.lookUp(tree, "c") != first)
      return
    }
  }

  @Test func changesThroughTheMountUpdateNodeNames() throws {
    let source = try SourceFolder()
    for name: FileName in ["d", "e"] { try source.makeFolder(name) }
    try source.write("a", "12345")
    let tree = try Self.tree(source)
    let (node, d, e) = (try Self.lookUp(tree, "a"), try Self.lookUp(tree, "d"), try Self.lookUp(tree, "e"))
    #expect(try tree.link(node, to: "b", in: d).node == node)
    #expect(try tree.link(node, to: "c", in: e).node == node)
    try tree.rename("a", in: Tree.root, to: "z", in: e, flags: 0)
    #expect(tree.path(node) == "e/z")
    try tree.remove("z", in: e, isFolder: false)
    #expect(try Self.size(tree, node) == 5)
    try tree.rename("b", in: d, to: "y", in: Tree.root, flags: 0)
    try tree.remove("c", in: e, isFolder: false)
    #expect(try Self.size(tree, node) == 5)
    #expect(tree.path(node) == "y")
    // Folders that move take its names along.
    _ = try tree.link(node, to: "b", in: d)
    try tree.rename("d", in: Tree.root, to: "moved", in: e, flags: 0)
    try tree.remove("y", in: Tree.root, isFolder: false)
    #expect(try Self.size(tree, node) == 5)
    #expect(tree.path(node) == "e/moved/b")
    let file = try tree.open(node, flags: O_RDWR, for: nil)
    try tree.remove("b", in: d, isFolder: false)
    #expect(try Self.size(tree, node) == 5)
    // Its last name has gone; by another one's number it is not found.
    try source.write("e/moved/b", "1")
    #expect(try Self.size(tree, node) == 5)
    #expect(try Self.lookUp(tree, "b", in: d) != node)
    withExtendedLifetime(file) {}
  }

  @Test func nodesFollowExchangedNames() throws {
    let source = try SourceFolder()
    try source.write("a", "12345")
    try source.write("b", "123")
    let tree = try Self.tree(source)
    let (a, b) = (try Self.lookUp(tree, "a"), try Self.lookUp(tree, "b"))
    _ = try tree.link(a, to: "more", in: Tree.root)
    try tree.rename("a", in: Tree.root, to: "b", in: Tree.root, flags: 2)
    #expect(try Self.lookUp(tree, "b") == a && Self.lookUp(tree, "a") == b)
    try tree.remove("more", in: Tree.root, isFolder: false)
    #expect(try Self.size(tree, a) == 5 && Self.size(tree, b) == 3)
    // Over another file.
    try tree.rename("a", in: Tree.root, to: "b", in: Tree.root, flags: 0)
    #expect(try Self.lookUp(tree, "b") == b && Self.size(tree, b) == 3)
    #expect(throws: Fault.self) { try tree.attributes(a, .blocking) }
  }

  /// More names than are kept: each still leads to the node.
  @Test func nodeWithManyHardLinksIsFoundByEachName() throws {
    let source = try SourceFolder()
    try source.write("0", "12345")
    let tree = try Self.tree(source)
    let node = try Self.lookUp(tree, "0")
    let names = (1..<300).map { FileName("\($0)") }
    for name in names { #expect(try tree.link(node, to: name, in: Tree.root).node == node) }
    for name in names { #expect(try Self.lookUp(tree, name) == node) }
    for name in names.dropLast() { try tree.remove(name, in: Tree.root, isFolder: false) }
    try tree.remove("0", in: Tree.root, isFolder: false)
    #expect(try Self.size(tree, node) == 5)
    tree.forget(node, 599)
    #expect(tree.nodeCount == 1)
    #expect(try Self.lookUp(tree, names[298]) != 0)
  }

  /// The kernel is told of all names of what it is to forget.
  @Test func surplusListsAllNamesOfANode() throws {
    let source = try SourceFolder()
    try source.write("a", "1")
    try source.makeHardLink("b", to: "a")
    let tree = try Self.tree(source)
    for name: FileName in ["a", "b"] { _ = try Self.lookUp(tree, name) }
    #expect(Set(tree.surplus(over: 0).map(\.name)) == ["a", "b"])
  }

  /// What the kernel reads by itself is the same for all who have a file open, and is given back with the last.
  @Test func openFilesShareOneBackingFile() throws {
    final class Lent: Sendable {}
    let source = try SourceFolder()
    try source.write("a", "1")
    try source.makeHardLink("b", to: "a")
    let tree = try Self.tree(source)
    func open(_ name: FileName) throws -> Tree.OpenFile {
      try tree.open(Self.lookUp(tree, name), flags: O_RDWR, for: nil)
    }
    let asked = Atomic<Int>(0)
    func lend(_ file: Tree.OpenFile, _ lent: Lent?) -> Lent? {
      file.lent { _ in
        asked.add(1, ordering: .relaxed)
        return lent
      }
    }
    weak var given: Lent?
    do {
      let one = try open("a")
      do {
        let lent = Lent()
        given = lent
        #expect(lend(one, lent) === lent)
      }
      let two = try open("b")
      #expect(lend(two, Lent()) === given && given != nil)
      #expect(asked.load(ordering: .relaxed) == 1)
      withExtendedLifetime((one, two)) {}
    }
    #expect(given == nil)
    // Who has it open without keeps others from it, and one failure is no rule.
    let one = try open("a")
    #expect(lend(one, nil) == nil)
    let two = try open("b")
    #expect(lend(two, Lent()) == nil)
    #expect(asked.load(ordering: .relaxed) == 2)
    withExtendedLifetime((one, two)) {}
  }

  /// Whatever is made, linked, renamed, exchanged, removed and forgotten, a node stands for one file, and a file for one node.
  @Test(arguments: [1, 2, 3]) func nodesAndFilesStayOneToOne(_ seed: UInt64) throws {
    let source = try SourceFolder()
    for name: FileName in ["d", "e"] { try source.makeFolder(name) }
    let tree = try Self.tree(source)
    var random = SeededNumbers(seed: seed)
    let folders = [Tree.root, try Self.lookUp(tree, "d"), try Self.lookUp(tree, "e")]
    let paths = ["", "d/", "e/"]
    let names = (0..<5).map { FileName("n\($0)") }
    /// How often the kernel would have looked each node up.
    var known: [UInt64: UInt64] = [:]
    let maker = Tree.CreationContext(caller: nil, umask: 0)
    func inode(_ folder: Int, _ name: FileName) -> UInt64? {
      var status = stat()
      return unsafe lstat(source.path + "/" + paths[folder] + name.text, &status) == 0 ? UInt64(status.st_ino) : nil
    }
    for step in 0..<1500 {
      let (one, other) = (Int.random(in: 0..<3, using: &random), Int.random(in: 0..<3, using: &random))
      let name = names.randomElement(using: &random)!
      let newName = names.randomElement(using: &random)!
      do throws(Fault) {
        switch Int.random(in: 0..<9, using: &random) {
        case 0, 1:
          let made = try tree.create(name, in: folders[one], flags: O_RDWR | O_EXCL, permissions: 0o644, by: maker)
          known[made.0.node, default: 0] += 1
        case 2, 3:
          let node = try tree.lookUp(name, in: folders[one], .blocking).node
          known[node, default: 0] += 1
          known[try tree.link(node, to: newName, in: folders[other]).node, default: 0] += 1
        case 4: try tree.remove(name, in: folders[one], isFolder: false)
        case 5:
          // The kernel renames nothing where both are one file.
          guard let before = inode(one, name), before != inode(other, newName) else { continue }
          try tree.rename(name, in: folders[one], to: newName, in: folders[other], flags: 0)
        case 6:
          guard let before = inode(one, name), before != inode(other, newName) else { continue }
          try tree.rename(name, in: folders[one], to: newName, in: folders[other], flags: 2)
        case 7:
          // By others.
          _ = unsafe rename(
            source.path + "/" + paths[one] + name.text, source.path + "/" + paths[other] + newName.text)
        default:
          guard let (node, count) = known.randomElement(using: &random) else { continue }
          known[node] = nil
          tree.forget(node, count)
        }
      } catch { #expect([ENOENT, EEXIST].contains { error.kind == .system($0) }, "\(step): \(error)") }
      var nodes: [UInt64: UInt64] = [:]
      for (folder, node) in folders.enumerated() {
        for name in names {
          guard let inode = inode(folder, name) else {
            #expect(throws: Fault.self) { try tree.lookUp(name, in: node, .blocking) }
            continue
          }
          let entry = try tree.lookUp(name, in: node, .blocking)
          known[entry.node, default: 0] += 1
          #expect(entry.attributes.inode == inode && nodes[inode] ?? entry.node == entry.node, "\(step)")
          nodes[inode] = entry.node
        }
      }
      #expect(Set(nodes.values).count == nodes.count, "\(step)")
      guard step.isMultiple(of: 50) else { continue }
      for node in nodes.values { #expect(try tree.attributes(node, .blocking).0.kind == .file) }
    }
    for (node, count) in known { tree.forget(node, count) }
    for folder in folders.dropFirst() { tree.forget(folder, 1) }
    #expect(tree.nodeCount == 1)
  }
}
