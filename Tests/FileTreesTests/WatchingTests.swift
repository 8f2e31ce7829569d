import FileTrees
import Foundation
import SystemPackage
import Testing

@Suite(.timeLimit(.minutes(5)))
struct WatchingTests {
  @Test func ownAndForeignChangesAreReported() async throws {
    let sample = try Sample("readme.txt")
    let tree = sample.tree
    try sample.makeFolder("folder/inner")
    let changes = try await tree.watch("folder")
    try sample.make(
      by: """
        os.chdir('folder')
        f = open('new', 'wb', 0)
        f.write(b'x')
        f.write(b'y')
        f.close()
        os.chmod('new', 0o600)
        os.rename('new', 'newer')
        os.rename('newer', '../gone')
        os.rename('../gone', 'back')
        open('inner/deep', 'w').close()
        os.unlink('back')
        os.mkdir('made')
        """)
    try await tree.createSymbolicLink("folder/link", to: "x")
    try await tree.remove("folder/made")
    var found: [String] = []
    for try await change in changes {
      found.append("\(change.kind) \(change.oldPath.map { "\($0) " } ?? "")\(change.path)")
      if change.kind == .removed, change.path == "folder/made" { break }
    }
    #expect(
      found == [
        "created folder/new", "modified folder/new", "attributes folder/new", "renamed folder/new folder/newer",
        "removed folder/newer", "created folder/back", "removed folder/back", "created folder/made",
        "created folder/link", "removed folder/made",
      ])
  }

  @Test func treeReflectsReportedChanges() async throws {
    let sample = try Sample()
    let tree = sample.tree
    let changes = try await tree.watch()
    let text = Task {
      for try await change in changes where change.path.string == "a.zip" && change.kind != .removed {
        if let text = try? await tree.text("a.zip.contents/x") { return text }
      }
      return ""
    }
    try sample.make(by: "import zipfile\nwith zipfile.ZipFile('a.zip', 'w') as z: z.writestr('x', 'inside')")
    #expect(try await text.value == "inside")
    try await tree.save([1], to: "saved")
    var kinds: [FileTree.Change.Kind] = []
    for try await change in changes where change.path.string == "saved" {
      kinds.append(change.kind)
      break
    }
    #expect(kinds == [.created])
  }

  @Test func removalOfDirectoryEndsWatching() async throws {
    let sample = try Sample()
    let tree = sample.tree
    for gone in ["os.rmdir('folder')", "os.rename('folder', 'other')", "import shutil\nshutil.rmtree('folder')"] {
      try sample.makeFolder("folder")
      let changes = try await tree.watch("folder")
      // Open, so that the system does not tell of its end.
      let held = unsafe open(sample.path("folder"), O_RDONLY | O_DIRECTORY)
      #expect(held >= 0)
      defer { close(held) }
      try sample.make(by: "open('folder/x', 'w').close()\nos.unlink('folder/x')")
      try sample.make(by: gone)
      var kinds: [FileTree.Change.Kind] = []
      await expectError(.directoryNotFound, "folder") { () throws(FileTreeError) in
        for try await change in changes { kinds.append(change.kind) }
      }
      #expect(kinds == [.created, .removed])
      var iterator = changes.makeAsyncIterator()
      #expect(try await iterator.next() == nil)
    }
  }

  @Test func watchingEndsWithTreeOrTask() async throws {
    let sample = try Sample("letters.zip", "readme.txt") { $0.isWritable = false }
    let tree = sample.tree
    let changes = try await tree.watch()
    let task = Task {
      do throws(FileTreeError) {
        for try await _ in changes {}
        return FileTreeError.Code?.none
      } catch { return error.code }
    }
    try await Task.sleep(for: .milliseconds(10))
    task.cancel()
    #expect(await task.value == .cancelled)
    // Another iterator goes on.
    try sample.write("x", to: "file")
    var iterator = changes.makeAsyncIterator()
    #expect(try await iterator.next()?.path == "file")
    await expectError(.notADirectory, "readme.txt") { () throws(FileTreeError) in _ = try await tree.watch("readme.txt")
    }
    await expectError(.notFound, "none") { () throws(FileTreeError) in _ = try await tree.watch("none") }
    await expectError(.unsupported, "letters.zip.contents") { () throws(FileTreeError) in
      _ = try await tree.watch("letters.zip.contents")
    }
    let ended = Task {
      for try await _ in changes {}
      return true
    }
    try await Task.sleep(for: .milliseconds(10))
    await tree.close()
    #expect(try await ended.value)
    await expectError(.cancelled, "") { () throws(FileTreeError) in _ = try await tree.watch() }
  }

  @Test func overflowIsReportedAsUnknownChange() async throws {
    let sample = try Sample()
    try sample.makeFolder("many")
    let changes = try await sample.tree.watch("many")
    // The kernel's own queue must not overflow: other tests have it, too.
    var marks = try await sample.tree.watch().makeAsyncIterator()
    for part in 0..<10 {
      try sample.make(by: "for i in range(3000): open(f'many/\(part).{i}', 'w').close()\nos.mkdir('mark\(part)')")
      while try await marks.next()?.path.string != "mark\(part)" {}
    }
    try await sample.tree.createDirectory("many/last")
    var kinds: Set<FileTree.Change.Kind> = []
    var count = 0
    for try await change in changes {
      kinds.insert(change.kind)
      count += 1
      if change.path.string == "many/last" { break }
    }
    #expect(kinds == [.unknown, .created])
    #expect(count <= 16384)
  }

  /// More than a user may have of inotify's instances, of which one serves all.
  @Test func watchesShareOneInotifyInstance() async throws {
    let sample = try Sample()
    let tree = sample.tree
    var all: [FileTree.Changes] = []
    for number in 0..<300 {
      try sample.makeFolder("\(number % 30)")
      all.append(try await tree.watch(FilePath("\(number % 30)")))
    }
    try sample.write("x", to: "7/file")
    for (number, changes) in all.enumerated() where number % 30 == 7 {
      var iterator = changes.makeAsyncIterator()
      #expect(try await iterator.next()?.path == "7/file")
    }
    all = []
    let again = try await tree.watch("7")
    try sample.write("x", to: "7/other")
    var iterator = again.makeAsyncIterator()
    #expect(try await iterator.next()?.path == "7/other")
  }
}
