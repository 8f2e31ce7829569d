import FileTrees
import Foundation
import SystemPackage
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ErrorTests {
  @Test func missingPathsThrowSpecificErrors() async throws {
    let sample = try Sample("readme.txt")
    let tree = sample.tree
    await expectError(.notFound, "none") { () throws(FileTreeError) in _ = try await tree.read("none") }
    await expectError(.notFound, "a/b") { () throws(FileTreeError) in _ = try await tree.attributes(of: "a/b") }
    await expectError(.directoryNotFound, "none") { () throws(FileTreeError) in
      for try await _ in tree.entries(of: "none") {}
    }
    await expectError(.notADirectory, "readme.txt") { () throws(FileTreeError) in
      for try await _ in tree.entries(of: "readme.txt") {}
    }
    await expectError(.isADirectory, "") { () throws(FileTreeError) in _ = try await tree.read("") }
    #expect(throws: FileTreeError.self) { try FileTree(at: "/nonexistent/folder") }
    do { _ = try FileTree(at: "/dev/null") } catch { #expect(error.code == .unsupported) }
  }

  /// The four errors that users of ion-filesystem know, from every call that has them.
  @Test func existingTargetsAndMissingParentsThrow() async throws {
    let sample = try Sample("readme.txt")
    let tree = sample.tree
    try sample.makeFolder("full/inner")
    try sample.makeFolder("other")
    let places: [(FilePath, FileTreeError.Code)] = [("full/inner", .alreadyExists), ("none/x", .missingParent)]
    for (path, code) in places {
      await expectError(code, path) { () throws(FileTreeError) in try await tree.createDirectory(path) }
      await expectError(code, path) { () throws(FileTreeError) in try await tree.rename("readme.txt", to: path) }
      await expectError(code, path) { () throws(FileTreeError) in try await tree.copy("readme.txt", to: path) }
      await expectError(code, path) { () throws(FileTreeError) in try await tree.copy("other", to: path) }
    }
    await expectError(.missingParent, "none/x") { () throws(FileTreeError) in try await tree.save([1], to: "none/x") }
    await expectError(.missingParent, "none/x") { () throws(FileTreeError) in try await tree.append([1], to: "none/x") }
    await expectError(.notEmpty, "full") { () throws(FileTreeError) in try await tree.remove("full") }
    await expectError(.notEmpty, "full") { () throws(FileTreeError) in
      try await tree.rename("other", to: "full", replacing: true)
    }
    await expectError(.directoryNotFound, "none/deep") { () throws(FileTreeError) in
      for try await _ in tree.entries(of: "none/deep", details: false) {}
    }
    #expect(try sample.names() == ["full", "other", "readme.txt"])
  }

  @Test func pathsCannotLeaveTheTree() async throws {
    let sample = try Sample("readme.txt")
    try sample.makeLink("out", to: "/etc/passwd")
    try sample.makeLink("up", to: "../../etc/passwd")
    try sample.makeLink("in", to: "readme.txt")
    try sample.makeLink("loop", to: "loop")
    let tree = sample.tree
    for path in ["../x", "out", "up"] as [FilePath] {
      await expectError(.permissionDenied, path) { () throws(FileTreeError) in _ = try await tree.read(path) }
      await expectError(.permissionDenied, path) { () throws(FileTreeError) in try await tree.save([], to: path) }
    }
    await expectError(.invalidPath, "loop") { () throws(FileTreeError) in _ = try await tree.read("loop") }
    #expect(try await tree.read("in") == sample.bytes(of: "readme.txt"))
    #expect(try await tree.attributes(of: "out", followsLinks: false).kind == .symbolicLink)
    try await tree.remove("out")
    #expect(FileManager.default.fileExists(atPath: "/etc/passwd"))
  }

  @Test func readBeyondItsLimitThrows() async throws {
    let sample = try Sample("readme.txt")
    await expectError(.limitExceeded, "readme.txt") { () throws(FileTreeError) in
      _ = try await sample.tree.read("readme.txt", limit: 10)
    }
  }

  @Test func damageAndMissingPasswordsThrow() async throws {
    let sample = try Sample { $0.passwords = ["wrong"] }
    try sample.make(
      by: """
        import zipfile
        with zipfile.ZipFile('a.zip', 'w') as z: z.writestr('x', b'0123456789' * 1000)
        b = bytearray(open('a.zip', 'rb').read())
        b[500] ^= 1
        open('damaged.zip', 'wb').write(b)
        b[500] ^= 1
        b[6] |= 1
        b[b.index(b'PK\\x01\\x02') + 8] |= 1
        open('locked.zip', 'wb').write(b)
        """)
    await expectError(.damaged, "damaged.zip.contents/x") { () throws(FileTreeError) in
      _ = try await sample.tree.read("damaged.zip.contents/x")
    }
    await expectError(.passwordNeeded, "locked.zip.contents/x") { () throws(FileTreeError) in
      _ = try await sample.tree.read("locked.zip.contents/x")
    }
  }

  @Test func cancelledTaskReturnsImmediately() async throws {
    let sample = try Sample()
    try sample.write([UInt8](repeating: 1, count: 64 << 20), to: "large")
    let chunks = sample.tree.chunks(of: "large", size: 1)
    let task = Task {
      do throws(FileTreeError) {
        for try await _ in chunks {}
        return FileTreeError.Code?.none
      } catch { return error.code }
    }
    try await Task.sleep(for: .milliseconds(20))
    task.cancel()
    #expect(await task.value == .cancelled)
    // A fifo that nobody writes to is not opened, and holds nothing up.
    try sample.make(by: "os.mkfifo('fifo')")
    await expectError(.unsupported, "fifo") { () throws(FileTreeError) in _ = try await sample.tree.read("fifo") }
  }

  @Test func entryIterationCanStopEarly() async throws {
    let sample = try Sample()
    try sample.make(by: "for i in range(3000): open(f'{i:05}', 'w')")
    var count = 0
    for try await _ in sample.tree.entries() {
      count += 1
      if count == 10 { break }
    }
    #expect(count == 10)
    #expect(try await sample.tree.entries().all().count == 3000)
    #expect(Set(try await sample.tree.entries(details: false).all().map(\.name)).count == 3000)
  }
}
