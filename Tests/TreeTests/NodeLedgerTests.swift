import AllViews
import Bytes
import Files
import Foundation
import Glibc
import TestSupport
import Testing
import Threads
import Tree

/// What a process finds of the nodes of the one before.
@Suite struct NodeLedgerTests {
  private struct Folder {
    let path: String
    let file: Int32

    init() throws {
      path = NSTemporaryDirectory() + "ledger.\(UUID().uuidString)"
      try FileManager.default.createDirectory(atPath: path + "/deep/deeper", withIntermediateDirectories: true)
      try Data("text".utf8).write(to: URL(filePath: path + "/deep/deeper/a.txt"))
      try Data(ZipFixture(ZipFixtureEntry("in/inner.txt", "inside")).bytes()).write(to: URL(filePath: path + "/a.zip"))
      file = unsafe open(path + ".memory", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    }

    /// A tree as another process would have it.
    func tree(isShared: Bool = false, isWritable: Bool = false) throws -> Tree {
      let root = try RealRoot(Descriptor.open(path: path, for: .place), pool: DescriptorPool(capacity: 64))
      let ledger = try PersistentNodeTable(Descriptor(owning: fcntl(file, F_DUPFD_CLOEXEC, 3)), at: 0)
      return try Tree(
        mirroring: root, views: Views(listing: ViewListing(), depth: 4, conversions: nil, memory: MemoryBudget()),
        isShared: isShared, isWritable: isWritable, ledger: ledger)
    }

    func remove() throws {
      close(file)
      for one in [path, path + ".memory"] { try FileManager.default.removeItem(atPath: one) }
    }
  }

  private func walk(_ tree: Tree, _ names: [FileName]) throws -> [Tree.Entry] {
    var found: [Tree.Entry] = []
    for name in names { found.append(try tree.lookUp(name, in: found.last?.node ?? Tree.root, .blocking)) }
    return found
  }

  @Test func nodesAreRestoredByName() throws {
    let folder = try Folder()
    defer { try? folder.remove() }
    for names in [["deep", "deeper", "a.txt"], ["a.zip.contents", "in", "inner.txt"]] as [[FileName]] {
      let before = try walk(try folder.tree(), names)
      // The last first: the folders on the way are not known yet.
      let tree = try folder.tree()
      for entry in before.reversed() {
        let attributes = try tree.attributes(entry.node, .blocking).0
        #expect(attributes.inode == entry.attributes.inode && attributes.kind == entry.attributes.kind)
      }
      let again = try walk(tree, names)
      #expect(again.map(\.node) == before.map(\.node) && again.map(\.generation) == before.map(\.generation))
      let file = try tree.open(before[2].node, .blocking)
      #expect(
        try file.source.bytes(at: 0, count: Int(file.source.size))
          == (names[0] == "deep" ? "text" : "inside").utf8.map { $0 })
    }
  }

  /// What was shown to a process that may not read the source. Of the name, the next process finds what others see.
  @Test func concealedNodesAreNotRestored() throws {
    let folder = try Folder()
    defer { try? folder.remove() }
    let stranger = Credentials(user: 4001, group: 4001, thread: 0)
    try Data("secret,1\n".utf8).write(to: URL(filePath: folder.path + "/t.csv"))
    #expect(unsafe chmod(folder.path + "/t.csv", 0o600) == 0)
    let before = try folder.tree(isShared: true)
    let concealed = try before.lookUp("t.csv.as-txt", in: Tree.root, for: stranger, .blocking)
    let own = Credentials(user: geteuid(), group: getegid(), thread: 0)
    let shown = try before.lookUp("t.csv.as-txt", in: Tree.root, for: own, .blocking)
    #expect(concealed.node != shown.node)
    let tree = try folder.tree(isShared: true)
    #expect(throws: Fault.self) { try tree.attributes(concealed.node, for: stranger, .blocking) }
    #expect(throws: Fault.self) { try tree.open(concealed.node, by: stranger, .blocking) }
    #expect(try tree.attributes(shown.node, for: own, .blocking).0.kind == .file)
  }

  @Test func replacedNodeIsStaleAfterRestart() throws {
    let folder = try Folder()
    defer { try? folder.remove() }
    let names: [FileName] = ["deep", "deeper", "a.txt"]
    let before = try walk(try folder.tree(), names)
    let path = folder.path + "/deep/deeper/a.txt"
    try Data("other".utf8).write(to: URL(filePath: path + ".new"))
    _ = unsafe rename(path + ".new", path)
    let tree = try folder.tree()
    #expect(throws: Fault.self) { try tree.attributes(before[2].node, .blocking) }
    let again = try walk(tree, names)
    #expect(again[1].node == before[1].node && again[2].node != before[2].node)
    #expect(try tree.attributes(again[2].node, .blocking).0.size == 5)
  }

  /// What was open under a name that another file got is not found by that name.
  @Test func replacedFilesAreNotRestored() throws {
    let folder = try Folder()
    defer { try? folder.remove() }
    try Data("other".utf8).write(to: URL(filePath: folder.path + "/other"))
    try Data("third".utf8).write(to: URL(filePath: folder.path + "/third"))
    let first = try folder.tree(isWritable: true)
    let (zip, other, third) = (
      try walk(first, ["a.zip"])[0], try walk(first, ["other"])[0], try walk(first, ["third"])[0]
    )
    try first.rename("other", in: Tree.root, to: "a.zip", in: Tree.root, flags: 0)
    try first.remove("third", in: Tree.root, isFolder: false)
    let second = try folder.tree()
    for gone in [zip, third] {
      #expect(throws: Fault.self) { try second.attributes(gone.node, .blocking) }
      #expect(throws: Fault.self) { try second.open(gone.node, .blocking) }
    }
    #expect(try second.attributes(other.node, .blocking).0.size == 5)
    #expect(try walk(second, ["a.zip"])[0].node == other.node)
  }

  /// A folder that was forgotten before what was in it leaves its number to no other.
  @Test func numbersOfForgottenDirectoriesAreNotReused() throws {
    let folder = try Folder()
    defer { try? folder.remove() }
    let entries = try walk(try folder.tree(), ["deep", "deeper", "a.txt"])
    let first = try folder.tree()
    first.forget(entries[1].node, 1)
    for tree in [first, try folder.tree()] {
      let zip = try tree.lookUp("a.zip", in: Tree.root, .blocking)
      #expect(zip.node != entries[1].node)
      tree.forget(zip.node, 1)
    }
    first.forget(entries[2].node, 1)
    let last = try folder.tree()
    let again = try walk(last, ["deep", "deeper", "a.txt"])
    #expect(again[0].node == entries[0].node && last.nodeCount == 4)
  }

  /// A folder whose file was moved elsewhere, without a lookup of the file, leaves its number to others.
  @Test func numberOfEmptiedDirectoryIsReused() throws {
    let folder = try Folder()
    defer { try? folder.remove() }
    let before = try walk(try folder.tree(), ["deep", "deeper", "a.txt"])
    let tree = try folder.tree(isWritable: true)
    try tree.rename("a.txt", in: before[1].node, to: "b.txt", in: Tree.root, flags: 0)
    try tree.remove("deeper", in: before[0].node, isFolder: true)
    tree.forget(before[1].node, 1)
    #expect(try walk(tree, ["a.zip"])[0].node == before[1].node)
    #expect(try walk(tree, ["b.txt"])[0].node == before[2].node)
  }

  /// A file that has lost the name under which the kernel knew it is restored by the name that it has.
  @Test func filesAreRestoredByTheirOtherName() throws {
    let folder = try Folder()
    defer { try? folder.remove() }
    try #require(unsafe link(folder.path + "/a.zip", folder.path + "/b.zip") == 0)
    let first = try folder.tree(isWritable: true)
    let one = try walk(first, ["a.zip"])[0]
    try first.remove("a.zip", in: Tree.root, isFolder: false)
    #expect(throws: Fault.self) { try folder.tree().attributes(one.node, .blocking) }
    let second = try folder.tree()
    let other = try walk(second, ["b.zip"])[0]
    // The node without a name is of use to those that have it open only.
    #expect(other.node != one.node)
    #expect(throws: Fault.self) { try second.attributes(one.node, .blocking) }
    let last = try folder.tree()
    #expect(try last.attributes(other.node, .blocking).0.inode == one.attributes.inode)
    #expect(try walk(last, ["b.zip"])[0].node == other.node)
  }

  @Test func forgottenNodesAreNotRestored() throws {
    let folder = try Folder()
    defer { try? folder.remove() }
    let first = try folder.tree()
    let entries = try walk(first, ["deep", "deeper", "a.txt"]) + [try walk(first, ["a.zip"])[0]]
    first.forget(entries[3].node, 1)
    let second = try folder.tree()
    #expect(second.nodeCount == 4)
    // Without having asked for it.
    second.forget(entries[2].node, 1)
    #expect(second.nodeCount == 3)
    let third = try folder.tree()
    #expect(third.nodeCount == 3)
    #expect(throws: Fault.self) { try third.attributes(entries[2].node, .blocking) }
    // Its number is another's, with another generation.
    let new = try walk(third, ["a.zip"])[0]
    #expect([entries[2].node, entries[3].node].contains(new.node))
    #expect(new.generation > entries[3].generation)
    #expect(try folder.tree().attributes(new.node, .blocking).0.inode == new.attributes.inode)
  }

  @Test func randomLookupsAndForgetsArePersisted() throws {
    let folder = try Folder()
    defer { try? folder.remove() }
    for number in 0..<300 {
      let name = String(repeating: "x", count: number % 200) + "\(number)"
      try Data().write(to: URL(filePath: folder.path + "/deep/" + name))
    }
    var known: [String: UInt64] = [:]
    var random = SystemRandomNumberGenerator()
    for _ in 0..<8 {
      let tree = try folder.tree()
      let deep = try walk(tree, ["deep"])[0].node
      for (name, node) in known {
        #expect(try tree.lookUp(FileName(name.utf8), in: deep, .blocking).node == node)
        tree.forget(node, 1)
        if Bool.random(using: &random) { continue }
        tree.forget(node, 1)
        known[name] = nil
      }
      for _ in 0..<100 {
        let number = Int.random(in: 0..<300, using: &random)
        let name = String(repeating: "x", count: number % 200) + "\(number)"
        let node = try tree.lookUp(FileName(name.utf8), in: deep, .blocking).node
        if let before = known.updateValue(node, forKey: name) {
          #expect(before == node)
          tree.forget(node, 1)
        }
      }
      #expect(tree.nodeCount == known.count + 2)
    }
  }
}
