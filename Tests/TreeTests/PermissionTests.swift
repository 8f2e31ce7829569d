import AllViews
import Bytes
import Files
import Foundation
import Glibc
import Jobs
import RenditionViews
import TestSupport
import Testing
import Threads

@testable import Tree

/// The permissions of callers in a mount that several users see.
@Suite struct PermissionTests {
  private static let stranger = Credentials(user: 4001, group: 4001, thread: 0)
  private static let root = Credentials(user: 0, group: 0, thread: 0)

  /// A folder that all users can enter.
  private static func source() throws -> SourceFolder {
    let source = try SourceFolder()
    guard unsafe chmod(source.path, 0o755) == 0 else { throw FileTreeError(errno: errno) }
    return source
  }

  private static func shared(
    _ source: SourceFolder, isWritable: Bool = false, keepsHandles: Bool = false, overrides: Overrides = Overrides()
  ) throws -> Tree {
    let root = try RealRoot(
      Descriptor.open(path: source.path, for: .place), pool: DescriptorPool(capacity: 64), path: source.path)
    let views = Views(listing: ViewListing(), depth: 4, conversions: nil, memory: MemoryBudget())
    return try Tree(
      mirroring: root, views: views, overrides: overrides, isShared: true, keepsHandles: keepsHandles,
      isWritable: isWritable)
  }

  private static func archive(_ text: String) -> ZipFixture {
    ZipFixture(ZipFixtureEntry("d/\(text).txt", text), ZipFixtureEntry("same.txt", "same"))
  }

  /// The errno of a question; 0 if it is answered.
  private static func code(_ question: () throws -> Void) -> Int32 {
    do { try question() } catch { return (error as? Fault)?.expectedErrno ?? -1 }
    return 0
  }

  /// All capabilities that count in a user namespace of the asker's own count for nothing here.
  @Test func capabilitiesOfOtherNamespacesAreIgnored() async throws {
    let never = Timestamp(seconds: 0)
    let face = AccessAttributes(
      Attributes(
        inode: 1, kind: .file, permissions: 0o600, links: 1, owner: 4002, group: 4002, size: 0, allocated: 0,
        accessed: never, modified: never, changed: never))
    for (words, isCapable) in [([], true), (["unshare", "--user", "--map-root-user"], false)] {
      let child = try MountChild(words + ["sleep", "60"])
      defer { child.killNow() }
      let name = "/proc/\(child.pid)/comm"
      // Until it runs, it is this process, or the program that makes the namespace.
      for _ in 0..<1000 where (try? String(contentsOfFile: name, encoding: .utf8)) != "sleep\n" {
        if !child.isRunning { try Test.cancel("cannot make user namespaces here") }
        try await Task.sleep(for: .milliseconds(10))
      }
      let caller = Credentials(user: 4001, group: 4001, thread: child.pid)
      #expect(caller.may(4, face, nil) == (isCapable && getuid() == 0), "\(words)")
    }
  }

  /// The capability to read everything does not permit writing, as in the kernel.
  @Test(
    .enabled("needs root and setpriv") { MountScratch.isRoot && MountScratch.has("setpriv") },
    arguments: [("", []), ("dac_read_search", [4, 1]), ("dac_override", [4, 2, 1])] as [(String, [UInt16])])
  func capabilitiesCountForWhatTheyPermit(_ capability: String, _ permitted: [UInt16]) async throws {
    let never = Timestamp(seconds: 0)
    let face = AccessAttributes(
      Attributes(
        inode: 1, kind: .file, permissions: 0, links: 1, owner: 4002, group: 4002, size: 0, allocated: 0,
        accessed: never, modified: never, changed: never))
    let given = capability.isEmpty ? [] : ["--inh-caps=+\(capability)", "--ambient-caps=+\(capability)"]
    let child = try MountChild(["setpriv", "--reuid=4001", "--clear-groups"] + given + ["sleep", "60"])
    defer { child.killNow() }
    for _ in 0..<1000 where (try? String(contentsOfFile: "/proc/\(child.pid)/comm", encoding: .utf8)) != "sleep\n" {
      try await Task.sleep(for: .milliseconds(10))
    }
    let caller = Credentials(user: 4001, group: 4001, thread: child.pid)
    for wanted: UInt16 in [1, 2, 4, 6] {
      let isPermitted = [1, 2, 4].allSatisfy { wanted & $0 == 0 || permitted.contains($0) }
      #expect(caller.may(wanted, face, nil) == isPermitted, "\(capability) \(wanted)")
    }
  }

  /// What is in a private archive has modes of its own, and another user may have a folder in it as working directory.
  @Test func entriesOfPrivateArchivesAreClosed() throws {
    let source = try Self.source()
    try source.write("a.zip", Self.archive("secret").bytes(), mode: 0o600)
    let tree = try Self.shared(source)
    let root = Credentials(user: 0, group: 0, thread: 0)
    let view = try tree.lookUp("a.zip.contents", in: Tree.root, for: root, .blocking).node
    let inner = try tree.lookUp("d", in: view, for: root, .blocking).node
    let file = try tree.lookUp("secret.txt", in: inner, for: root, .blocking)
    #expect(file.attributes.permissions & 0o004 != 0)
    let questions: [(String, (Credentials) throws -> Void)] = [
      ("open", { _ = try tree.open(file.node, by: $0, .blocking) }),
      ("list", { _ = try tree.openFolder(inner, for: $0, .blocking) }),
      ("look up", { _ = try tree.lookUp("secret.txt", in: inner, for: $0, .blocking) }),
      ("attributes", { _ = try tree.attributes(file.node, for: $0, .blocking) }),
      ("state", { _ = try tree.extendedAttribute("user.ffmount.state", of: file.node, for: $0, .blocking) }),
    ]
    for (question, ask) in questions {
      #expect([EACCES, ESTALE].contains(Self.code { try ask(Self.stranger) }), "\(question)")
      #expect(Self.code { try ask(root) } == 0, "\(question)")
    }
  }

  /// What a user that may not read it has found of an archive or a mailbox does not keep others from it.
  @Test func privateViewsAreOpenToTheirOwnerAfterOthers() throws {
    let source = try Self.source()
    try source.write("a.zip", Self.archive("secret").bytes(), mode: 0o600)
    let mail = "From a@b Fri May  3 10:00:00 2024\nSubject: secret\nDate: Fri, 3 May 2024 10:00:00 +0000\n\nx\n"
    try source.write("m.mbox", Array(mail.utf8), mode: 0o600)
    let tree = try Self.shared(source)
    for name in ["a.zip.contents", "m.mbox.messages"] as [FileName] {
      for _ in 0..<2 {
        if let found = try? tree.lookUp(name, in: Tree.root, for: Self.stranger, .blocking) {
          #expect(Self.code { _ = try tree.openFolder(found.node, for: Self.stranger, .blocking) } != 0)
        }
        let own = try tree.lookUp(name, in: Tree.root, for: Self.root, .blocking)
        let folder = try tree.openFolder(own.node, for: Self.root, .blocking)
        var names: [String] = []
        try folder.readAttributes(after: 2, .blocking) { (row, _) throws(Fault) in
          names.append(row.name.fileName.text)
          return true
        }
        #expect(!names.isEmpty, "\(name.text)")
      }
    }
  }

  /// To read all messages of a Maildir, a user lists and searches all of its folders.
  @Test func messagesNeedTheRightsToTheirFolders() throws {
    let source = try Self.source()
    for folder in ["M", "M/cur", "M/new", "M/tmp"] { try source.makeFolder(FileName(folder), mode: 0o755) }
    try source.write("M/cur/1:2,S", Array("Subject: x\n\nx\n".utf8), mode: 0o644)
    for (path, mode, isOpen) in [
      ("M", 0o755, true), ("M", 0o754, false), ("M", 0o751, false), ("M", 0o755, true), ("M/cur", 0o754, false),
      ("M/cur", 0o751, false), ("M/cur", 0o755, true), ("M/cur/1:2,S", 0o640, false), ("M/cur/1:2,S", 0o604, true),
    ] as [(String, mode_t, Bool)] {
      #expect(unsafe chmod("\(source.path)/\(path)", mode) == 0)
      let tree = try Self.shared(source)
      let found = try tree.lookUp("M.messages", in: Tree.root, for: Self.root, .blocking)
      #expect((found.attributes.permissions & 0o005 == 0o005) == isOpen, "\(path) \(String(mode, radix: 8))")
    }
  }

  /// Everything that was public when it was looked up, and was made private without the kernel's knowledge.
  @Test(arguments: ["rename", "chmod", "chown"]) func currentPermissionsAreEnforced(_ way: String) throws {
    let source = try Self.source()
    let path = source.path
    try source.makeFolder("f")
    try source.write("f/a.zip", Self.archive("public"))
    try source.write("f/t.csv", "a,b\n1,2\n")
    let tree = try Self.shared(source)
    func lookUp(_ name: FileName, in folder: UInt64, _ caller: Credentials? = Self.stranger) throws -> UInt64 {
      try tree.lookUp(name, in: folder, for: caller, .blocking).node
    }
    let folder = try lookUp("f", in: Tree.root)
    let file = try lookUp("a.zip", in: folder)
    let table = try lookUp("t.csv.as-txt", in: folder)
    let view = try lookUp("a.zip.contents", in: folder)
    let inner = try lookUp("d", in: view)
    let same = try lookUp("same.txt", in: view)
    let reader = try tree.openFolder(view, for: Self.stranger, .blocking)
    var rows = 0
    try reader.read(after: 0, for: Self.stranger, .blocking) { (_, _) throws(Fault) in
      rows += 1
      return rows == 1
    }
    let opened = try tree.open(file, by: Self.stranger, .blocking)

    for name in ["a.zip", "t.csv"] {
      let bytes = name == "a.zip" ? Self.archive("secret").bytes() : Array("secret,b\n".utf8)
      switch way {
      case "rename":
        try source.write("f/new", bytes, mode: 0o600)
        try source.rename("f/new", to: FileName("f/\(name)"))
      case "chmod":
        _ = unsafe chmod("\(path)/f/\(name)", 0o600)
        try source.write(FileName("f/\(name)"), bytes, mode: 0o600)
      default:
        _ = unsafe chmod("\(path)/f/\(name)", 0o640)
        guard unsafe chown("\(path)/f/\(name)", 4002, 4002) == 0 else { return }
      }
    }
    let questions: [(String, (Credentials?) throws -> Void)] = [
      ("look up in the view", { _ = try lookUp("d", in: view, $0) }),
      ("look up below it", { _ = try lookUp("secret.txt", in: inner, $0) }),
      ("list the view", { _ = try tree.openFolder(view, for: $0, .blocking) }),
      ("list a folder in it", { _ = try tree.openFolder(inner, for: $0, .blocking) }),
      ("open a file in it", { _ = try tree.open(same, by: $0, .blocking) }),
      ("open the file", { _ = try tree.open(file, by: $0, .blocking) }),
      ("open a made file", { _ = try tree.open(table, by: $0, .blocking) }),
      ("an attribute", { _ = try tree.extendedAttribute("user.ffmount.state", of: same, for: $0, .blocking) }),
      ("the view's attribute", { _ = try tree.extendedAttribute("user.ffmount.state", of: view, for: $0, .blocking) }),
      ("a size in it", { _ = try tree.attributes(same, for: $0, .blocking) }),
      ("a made file's size", { _ = try tree.attributes(table, for: $0, .blocking) }),
    ]
    for (question, ask) in questions {
      #expect([EACCES, ESTALE].contains(Self.code { try ask(Self.stranger) }), "\(question)")
    }
    #expect(
      Self.code { try reader.read(after: 1, for: Self.stranger, .blocking) { (_, _) throws(Fault) in true } } != 0)
    // What was open stays so.
    #expect(opened.source.size > 0)
    for name: FileName in ["a.zip", "t.csv.as-txt", "a.zip.contents"] {
      let now = try tree.lookUp(name, in: folder, for: Self.stranger, .blocking)
      #expect(now.attributes.permissions & 0o004 == 0, "\(name.text)")
    }
    let now = try lookUp("a.zip.contents", in: folder, Self.root)
    #expect(Self.code { _ = try tree.openFolder(now, for: Self.root, .blocking) } == 0)
  }

  /// The kernel may have old attributes of a folder that was closed for a while after it was told, and each request is
  /// refused until then. Afterwards, a caller that the kernel lets pass all the same works below.
  @Test func restrictedDirectoriesAreRechecked() async throws {
    let source = try Self.source()
    for name: FileName in ["f", "f/g", "f/g/h"] { try source.makeFolder(name) }
    try source.write("f/g/h/a.txt", "a")
    let tree = try Self.shared(source)
    var nodes = [Tree.root]
    for name: FileName in ["f", "g", "h", "a.txt"] {
      nodes.append(try tree.lookUp(name, in: nodes[nodes.count - 1], for: Self.stranger, .blocking).node)
    }
    let told = Told()
    tree.whenOutdated { told.add($0) }
    _ = unsafe chmod(source.path + "/f", 0o700)
    #expect(Self.code { _ = try tree.open(nodes[4], by: Self.stranger, .blocking) } == ESTALE)
    #expect(told.nodes.contains(nodes[1]))
    for _ in 0..<3 {
      #expect(Self.code { _ = try tree.open(nodes[4], by: Self.stranger, .blocking) } == ESTALE)
      #expect(Self.code { _ = try tree.lookUp("a.txt", in: nodes[3], for: Self.stranger, .blocking) } == ESTALE)
      #expect(Self.code { _ = try tree.open(nodes[4], by: Self.root, .blocking) } == 0)
    }
    // A new name in the folder is no new restriction.
    try await Task.sleep(for: .nanoseconds(Tree.distrustTime + 1_000_000))
    for name: FileName in ["f/b", "f/c"] {
      #expect(Self.code { _ = try tree.open(nodes[4], by: Self.stranger, .blocking) } == 0)
      try source.makeFolder(name)
    }
    // The folder itself is compared with each caller.
    #expect(Self.code { _ = try tree.lookUp("g", in: nodes[1], for: Self.stranger, .blocking) } == EACCES)
    // Closed, open, and closed again.
    for _ in 0..<2 {
      _ = unsafe chmod(source.path + "/f", 0o755)
      _ = try tree.attributes(nodes[1], for: Self.stranger, .blocking)
      _ = unsafe chmod(source.path + "/f", 0o700)
      #expect(Self.code { _ = try tree.attributes(nodes[4], for: Self.stranger, .blocking) } == ESTALE)
    }
  }

  /// A file that is found in a folder that a caller can search stays available when another folder that has it is closed.
  @Test(arguments: [false, true]) func linkInAnOpenDirectoryStaysAvailable(isBelowIt: Bool) throws {
    let source = try Self.source()
    let ways: [[FileName]] = isBelowIt ? [["f", "h"], ["g", "h"]] : [["f"], ["g"]]
    for way in ways {
      for count in 1...way.count {
        try source.makeFolder(FileName(way[..<count].map(\.text).joined(separator: "/")))
      }
    }
    let paths = ways.map { "\(source.path)/\($0.map(\.text).joined(separator: "/"))/a" }
    try source.write(FileName(String(paths[0].dropFirst(source.path.utf8.count + 1))), "a")
    guard unsafe Glibc.link(paths[0], paths[1]) == 0 else { throw FileTreeError(errno: errno) }
    let tree = try Self.shared(source)
    let nodes = try ways.map { way in
      try (way + ["a"]).reduce(Tree.root) { (folder, name) in
        try tree.lookUp(name, in: folder, for: Self.stranger, .blocking).node
      }
    }
    #expect(nodes[0] == nodes[1])
    for (name, code) in [("f", 0), ("g", ESTALE)] {
      _ = unsafe chmod("\(source.path)/\(name)", 0o700)
      for _ in 0..<2 { #expect(Self.code { _ = try tree.open(nodes[0], by: Self.stranger, .blocking) } == code) }
    }
  }

  private final class Told: @unchecked Sendable {
    private(set) var nodes: [UInt64] = []
    func add(_ more: [UInt64]) { nodes += more }
  }

  @Test func writingRequiresWritePermission() throws {
    let source = try Self.source()
    try source.write("a", [1, 2, 3], mode: 0o644)
    let tree = try Self.shared(source, isWritable: true)
    let node = try tree.lookUp("a", in: Tree.root, for: Self.stranger, .blocking).node
    let modes: [(mode_t, [Int32: Int32])] = [
      (0o644, [O_RDONLY: 0, O_WRONLY: EACCES, O_RDWR: EACCES, O_RDONLY | O_TRUNC: EACCES]),
      (0o642, [O_RDONLY: EACCES, O_WRONLY: 0, O_RDWR: EACCES]), (0o600, [O_RDONLY: EACCES, O_WRONLY: EACCES]),
      (0o606, [O_RDONLY: 0, O_RDWR: 0]),
    ]
    for (mode, results) in modes {
      _ = unsafe chmod(source.path + "/a", mode)
      for (flags, result) in results {
        let found = Self.code { _ = try tree.open(node, flags: flags, for: Self.stranger) }
        #expect(found == result, "\(String(mode, radix: 8)) \(flags)")
      }
    }
    #expect(try tree.attributes(node, .blocking).0.size == 3)
  }

  /// The owner and the permissions that a mount shows are those that count.
  @Test func shownPermissionsAreThoseOfWriting() throws {
    let source = try Self.source()
    try source.write("a", [1], mode: 0o662)
    var (owned, masked) = (Overrides(), Overrides())
    (owned.owner, masked.fileMask) = (Self.stranger.user, 0o022)
    for (overrides, result) in [(Overrides(), 0), (owned, 0), (masked, EACCES)] as [(Overrides, Int32)] {
      let tree = try Self.shared(source, isWritable: true, overrides: overrides)
      let node = try tree.lookUp("a", in: Tree.root, for: Self.stranger, .blocking).node
      #expect(Self.code { _ = try tree.open(node, flags: O_WRONLY, for: Self.stranger) } == result)
    }
    #expect(unsafe chmod(source.path + "/a", 0o600) == 0)
    for (overrides, result) in [(Overrides(), EACCES), (owned, 0), (masked, EACCES)] as [(Overrides, Int32)] {
      let tree = try Self.shared(source, isWritable: true, overrides: overrides)
      let node = try tree.lookUp("a", in: Tree.root, for: Self.stranger, .blocking).node
      #expect(Self.code { _ = try tree.open(node, flags: O_RDWR, for: Self.stranger) } == result)
    }
  }

  @Test func changingDirectoryRequiresWritePermission() throws {
    let source = try Self.source()
    try source.makeFolder("d", mode: 0o755)
    try source.write("d/a", "a")
    let tree = try Self.shared(source, isWritable: true)
    let folder = try tree.lookUp("d", in: Tree.root, for: Self.stranger, .blocking).node
    let file = try tree.lookUp("a", in: folder, for: Self.stranger, .blocking).node
    let maker = Tree.CreationContext(caller: Self.stranger, umask: 0)
    var size = Tree.AttributeChanges()
    size.size = 0
    let changes: [() throws -> Void] = [
      { _ = try tree.create("b", in: folder, flags: O_RDWR, permissions: 0o600, by: maker) },
      { _ = try tree.makeFolder("c", in: folder, permissions: 0o700, by: maker) },
      { _ = try tree.makeLink("l", to: "a", in: folder, by: maker) },
      { _ = try tree.link(file, to: "e", in: folder, for: Self.stranger) },
      { try tree.rename("a", in: folder, to: "f", in: folder, flags: 0, for: Self.stranger) },
      { try tree.remove("a", in: folder, isFolder: false, for: Self.stranger) },
      { _ = try tree.change(file, size, of: nil, for: Self.stranger) },
      { try tree.setExtendedAttribute("user.x", to: [1], of: file, flags: 0, for: Self.stranger) },
    ]
    for (number, change) in changes.enumerated() { #expect(Self.code(change) == EACCES, "\(number)") }
    #expect(try tree.attributes(file, .blocking).0.size == 1)
  }

  @Test func executionDoesNotRequireReadPermission() throws {
    let source = try Self.source()
    try source.write("run", [1], mode: 0o711)
    let tree = try Self.shared(source)
    let node = try tree.lookUp("run", in: Tree.root, for: Self.stranger, .blocking).node
    #expect(Self.code { _ = try tree.open(node, by: Self.stranger, .blocking) } == EACCES)
    #expect(Self.code { _ = try tree.open(node, by: Self.stranger, isExecuted: true, .blocking) } == 0)
  }

  /// The first entry that matches the caller counts, and the mask takes away from all but the owner and others.
  @Test func firstMatchingACLEntryDecides() throws {
    func list(_ entries: (UInt16, UInt16, UInt32)...) throws -> AccessList {
      var bytes: [UInt8] = [2, 0, 0, 0]
      for (tag, permissions, id) in entries {
        bytes.append(littleEndian: tag)
        bytes.append(littleEndian: permissions)
        bytes.append(littleEndian: id)
      }
      return try AccessList(bytes)
    }
    typealias Tag = AccessList.Tag
    func may(_ wanted: UInt16, _ list: AccessList, user: UInt32, group: UInt32) -> Bool {
      list.gives(wanted, to: Credentials(user: user, group: group, thread: 0), owner: 1, group: 1)
    }
    let masked = try list(
      (Tag.owner, 6, .max), (Tag.user, 7, 2), (Tag.owningGroup, 7, .max), (Tag.group, 7, 3), (Tag.mask, 4, .max),
      (Tag.others, 5, .max))
    for (user, group) in [(2, 9), (9, 1), (9, 3)] as [(UInt32, UInt32)] {
      #expect(may(4, masked, user: user, group: group) && !may(2, masked, user: user, group: group))
      #expect(!may(1, masked, user: user, group: group))
    }
    #expect(may(6, masked, user: 1, group: 9) && may(5, masked, user: 9, group: 9))
    #expect(masked.ofAllOthers == 4)
    // A group that is refused is not one of the others.
    let refusing = try list(
      (Tag.owner, 7, .max), (Tag.user, 0, 2), (Tag.owningGroup, 0, .max), (Tag.group, 1, 3), (Tag.mask, 7, .max),
      (Tag.others, 4, .max))
    for (user, group) in [(2, 9), (9, 1), (9, 3)] as [(UInt32, UInt32)] {
      #expect(!may(4, refusing, user: user, group: group), "\(user) \(group)")
    }
    #expect(may(4, refusing, user: 9, group: 9) && may(1, refusing, user: 9, group: 3))
    #expect(refusing.ofAllOthers == 0)
  }

  /// Part of a folder cannot be read: the document of the whole is its reader's alone, and says nothing of its size.
  @Test func mergedDocumentHasTheStrictestPermissions() throws {
    let conversions = Conversions(
      ConversionPool.Options(program: "/nonexistent"), cache: nil, index: nil, spools: "/tmp")
    var sizes: Set<Int64> = []
    for isLarge in [false, true] {
      let source = try Self.source()
      try source.makeFolder("mix")
      try source.write("mix/a.png", [1])
      try source.write("mix/b.png", [UInt8](repeating: 1, count: isLarge ? 100_000 : 1), mode: 0o600)
      let root = try RealRoot(Descriptor.open(path: source.path, for: .place), pool: DescriptorPool(capacity: 64))
      let tree = try Tree(
        mirroring: root,
        views: Views(listing: ViewListing(), depth: 4, conversions: conversions, memory: MemoryBudget()), isShared: true
      )
      let found = try tree.lookUp("mix.merged.pdf", in: Tree.root, for: Self.stranger, .blocking)
      #expect(found.attributes.permissions == 0o600 && found.attributes.owner == geteuid())
      #expect(try tree.attributes(found.node, for: Self.stranger, .blocking).0.permissions == 0o600)
      sizes.insert(found.attributes.size)
      #expect(Self.code { _ = try tree.open(found.node, by: Self.stranger, .blocking) } != 0)
    }
    #expect(sizes.count == 1)
  }
}
