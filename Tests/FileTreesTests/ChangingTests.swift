import FileTrees
import Foundation
import SystemPackage
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ChangingTests {
  @Test func directoriesAreCreatedAndRemoved() async throws {
    let sample = try Sample("readme.txt")
    let tree = sample.tree
    try await tree.createDirectory("a")
    await expectError(.alreadyExists, "a") { () throws(FileTreeError) in try await tree.createDirectory("a") }
    await expectError(.missingParent, "x/y") { () throws(FileTreeError) in try await tree.createDirectory("x/y") }
    try await tree.createDirectory("a/b/c/d", intermediates: true)
    try await tree.createDirectory("a/b/c/d", intermediates: true)
    #expect(try sample.names(in: "a/b/c") == ["d"])
    await expectError(.alreadyExists, "readme.txt") { () throws(FileTreeError) in
      try await tree.createDirectory("readme.txt", intermediates: true)
    }
    await expectError(.notEmpty, "a") { () throws(FileTreeError) in try await tree.remove("a") }
    try sample.write("x", to: "a/b/file")
    try sample.makeLink("a/b/link", to: "../../readme.txt")
    try await tree.remove("a", recursively: true)
    #expect(try sample.names() == ["readme.txt"])
    await expectError(.notFound, "a") { () throws(FileTreeError) in try await tree.remove("a") }
  }

  @Test func saveReplacesContentAndKeepsMode() async throws {
    let sample = try Sample()
    let tree = sample.tree
    try await tree.save(Array("one".utf8), to: "file")
    #expect(try sample.bytes(of: "file") == Array("one".utf8))
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: sample.path("file"))
    let before = try Data(contentsOf: URL(filePath: sample.path("file")))
    try await tree.save(Array("second".utf8), to: "file")
    #expect(before == Data("one".utf8))
    #expect(try await tree.read("file") == Array("second".utf8))
    #expect(try await tree.attributes(of: "file").permissions.rawValue == 0o640)
    try await tree.append(Array(" and more".utf8), to: "file")
    try await tree.append(Array("new".utf8), to: "other")
    #expect(try sample.bytes(of: "file") == Array("second and more".utf8))
    #expect(try await tree.text("other") == "new")
    try sample.makeLink("link", to: "file")
    try await tree.save([], to: "link")
    #expect(try sample.bytes(of: "file") == [])
    #expect(try await tree.attributes(of: "link", followsLinks: false).kind == .symbolicLink)
    await expectError(.missingParent, "no/file") { () throws(FileTreeError) in try await tree.save([], to: "no/file") }
    await expectError(.missingParent, "no/file") { () throws(FileTreeError) in try await tree.append([], to: "no/file")
    }
    #expect(try sample.names() == ["file", "link", "other"])
  }

  @Test func readerOfReplacedFileKeepsOldContent() async throws {
    let sample = try Sample()
    try sample.write([UInt8](repeating: 1, count: 3 << 20), to: "file")
    var sum = 0
    for try await chunk in sample.tree.chunks(of: "file", size: 1 << 20) {
      if sum == 0 { try await sample.tree.save([], to: "file") }
      sum += chunk.count
    }
    #expect(sum == 3 << 20)
  }

  @Test func renameKeepsContentAndMovesViews() async throws {
    let sample = try Sample("letters.zip", "readme.txt")
    let tree = sample.tree
    let names = try await tree.entries(of: "letters.zip.contents").all().map(\.name)
    try await tree.createDirectory("folder")
    try await tree.rename("letters.zip", to: "folder/moved.zip")
    #expect(try await tree.entries(of: "folder/moved.zip.contents").all().map(\.name) == names)
    await expectError(.notFound, "letters.zip.contents") { () throws(FileTreeError) in
      _ = try await tree.attributes(of: "letters.zip.contents")
    }
    await expectError(.alreadyExists, "readme.txt") { () throws(FileTreeError) in
      try await tree.rename("folder/moved.zip", to: "readme.txt")
    }
    await expectError(.missingParent, "none/x") { () throws(FileTreeError) in
      try await tree.rename("readme.txt", to: "none/x")
    }
    let archive = try sample.bytes(of: "folder/moved.zip")
    try await tree.rename("folder/moved.zip", to: "readme.txt", replacing: true)
    #expect(try sample.bytes(of: "readme.txt") == archive)
    #expect(try sample.names(in: "folder").isEmpty)
  }

  @Test func filesDirectoriesAndViewsAreCopied() async throws {
    let sample = try Sample("letters.zip")
    let tree = sample.tree
    try sample.write((0..<5_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }, to: "data")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: sample.path("data"))
    try await tree.copy("data", to: "copy")
    #expect(FileManager.default.contentsEqual(atPath: sample.path("data"), andPath: sample.path("copy")))
    #expect(try await tree.attributes(of: "copy").permissions.rawValue == 0o755)
    await expectError(.alreadyExists, "copy") { () throws(FileTreeError) in
      try await tree.copy("letters.zip", to: "copy")
    }
    try await tree.copy("letters.zip", to: "copy", replacing: true)
    #expect(FileManager.default.contentsEqual(atPath: sample.path("letters.zip"), andPath: sample.path("copy")))
    try await tree.copy("letters.zip.contents", to: "unpacked")
    try sample.make(by: "import zipfile\nos.mkdir('expected')\nzipfile.ZipFile('letters.zip').extractall('expected')")
    // Python makes a file of the link in it.
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: sample.path("unpacked/latest")) == "2024")
    for folder in ["expected", "unpacked"] {
      try FileManager.default.removeItem(atPath: sample.path("\(folder)/latest"))
    }
    #expect(FileManager.default.contentsEqual(atPath: sample.path("expected"), andPath: sample.path("unpacked")))
    #expect(try !sample.names(in: "expected").isEmpty)
    await expectError(.notFound, "none") { () throws(FileTreeError) in try await tree.copy("none", to: "x") }
    try await tree.createDirectory("self")
    await expectError(.system, "self") { () throws(FileTreeError) in try await tree.copy("self", to: "self/in") }
    // The same place by another path.
    try FileManager.default.createSymbolicLink(atPath: sample.path("link"), withDestinationPath: "self")
    await expectError(.system, "self") { () throws(FileTreeError) in try await tree.copy("self", to: "link/in") }
    #expect(try sample.names(in: "self").isEmpty)
  }

  /// A copy belongs to another user, perhaps, than the program that its bits give rights to.
  @Test(
    arguments: [(0o6755, 0o755), (0o4711, 0o711), (0o2070, 0o270), (0o1644, 0o644), (0o400, 0o600)]
      as [(UInt16, UInt16)])
  func copiesHaveNoSpecialBits(_ permissions: UInt16, _ copied: UInt16) async throws {
    let sample = try Sample()
    try sample.make(by: "open('file', 'w').write('x')\nos.chmod('file', \(permissions))")
    try await sample.tree.copy("file", to: "copy")
    #expect(try await sample.tree.attributes(of: "copy").permissions.rawValue == copied)
    #expect(try await sample.tree.attributes(of: "file").permissions.rawValue == permissions)
  }

  @Test func copiesOfSparseFilesAreSparse() async throws {
    let sample = try Sample("letters.zip")
    let tree = sample.tree
    try sample.make(
      by: """
        for name, places in [('hole', []), ('first', [0]), ('last', [(1 << 30) - 4]), ('middle', [4 << 20, 300 << 20])]:
            with open(name, 'wb') as file:
                for place in places:
                    file.seek(place)
                    file.write(b'data')
                file.truncate(1 << 30)
        """)
    for name in ["hole", "first", "last", "middle"] {
      try await tree.copy(FilePath(name), to: FilePath(name + ".copy"))
      try sample.make(
        by: """
          status = os.stat('\(name).copy')
          assert status.st_size == 1 << 30 and status.st_blocks < 2048, status
          for place in (0, 4 << 20, 300 << 20, (1 << 30) - 4):
              with open('\(name)', 'rb') as one, open('\(name).copy', 'rb') as other:
                  one.seek(place), other.seek(place)
                  assert one.read(4) == other.read(4), place
          """)
    }
  }

  @Test func failedCopyLeavesNoFile() async throws {
    let sample = try Sample("letters.zip")
    let tree = sample.tree
    try sample.make(
      by: """
        import zipfile
        with zipfile.ZipFile('damaged.zip', 'w') as archive: archive.writestr('member', b'wanted' * 50_000)
        data = bytearray(open('damaged.zip', 'rb').read())
        data[100_000] ^= 1
        open('damaged.zip', 'wb').write(data)
        """)
    try await tree.save([1], to: "there")
    let before = try sample.names()
    for target: FilePath in ["copy", "there"] {
      await #expect(throws: FileTreeError.self) {
        try await tree.copy("damaged.zip.contents/member", to: target, replacing: true)
      }
    }
    #expect(try sample.names() == before)
    #expect(try sample.bytes(of: "there") == [1])
  }

  @Test func viewsRefuseChanges() async throws {
    let sample = try Sample("letters.zip")
    let tree = sample.tree
    let inside = try #require(
      try await tree.entries(of: "letters.zip.contents").all().first { $0.kind == .file && !$0.isView })
    await expectError(.readOnlyView, inside.path) { () throws(FileTreeError) in try await tree.save([], to: inside.path)
    }
    await expectError(.readOnlyView, inside.path) { () throws(FileTreeError) in
      try await tree.append([1], to: inside.path)
    }
    await expectError(.readOnlyView, inside.path) { () throws(FileTreeError) in try await tree.remove(inside.path) }
    await expectError(.readOnlyView, inside.path) { () throws(FileTreeError) in
      try await tree.rename(inside.path, to: "x")
    }
    let folder: FilePath = "letters.zip.contents"
    await expectError(.readOnlyView, folder) { () throws(FileTreeError) in
      try await tree.remove(folder, recursively: true)
    }
    await expectError(.readOnlyView, folder.appending("new")) { () throws(FileTreeError) in
      try await tree.createDirectory(folder.appending("new"))
    }
    await expectError(.readOnlyView, folder.appending("new")) { () throws(FileTreeError) in
      try await tree.save([], to: folder.appending("new"))
    }
    #expect(try sample.names() == ["letters.zip"])
  }

  @Test func readOnlyTreeRefusesChanges() async throws {
    let sample = try Sample("readme.txt") { $0.isWritable = false }
    await expectError(.readOnly, "x") { () throws(FileTreeError) in try await sample.tree.save([], to: "x") }
    await expectError(.readOnly, "readme.txt") { () throws(FileTreeError) in try await sample.tree.remove("readme.txt")
    }
    #expect(try sample.names() == ["readme.txt"])
  }

  @Test func viewsReflectChangesOfTheirSource() async throws {
    let sample = try Sample()
    let make = { (text: String) in "import zipfile\nwith zipfile.ZipFile('b.zip', 'w') as z: z.writestr('x', '\(text)')"
    }
    try sample.make(by: make("old"))
    try await sample.tree.rename("b.zip", to: "a.zip")
    #expect(try await sample.tree.text("a.zip.contents/x") == "old")
    try sample.make(by: make("changed"))
    let bytes = try await sample.tree.read("b.zip")
    try await sample.tree.save(bytes, to: "a.zip")
    #expect(try await sample.tree.text("a.zip.contents/x") == "changed")
    try await sample.tree.remove("a.zip")
    await expectError(.notFound, "a.zip.contents/x") { () throws(FileTreeError) in
      _ = try await sample.tree.read("a.zip.contents/x")
    }
  }
}
