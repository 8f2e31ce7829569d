import AllViews
import Bytes
import Files
import Glibc
import Index
import TestSupport
import Testing
import Threads
import Tree

@testable import FindViews

/// The sources that another user of a tree may read, and thus find.
@Suite(.timeLimit(.minutes(5))) struct SourceVisibilityTests {
  private static let stranger = Credentials(user: 4001, group: 4001, thread: 0)

  /// Returns whether the stranger may read `path`, with these modes of the folders and files on the way. `change` is
  /// called with the path of the source after it has been indexed.
  private func isVisible(
    _ path: String, _ modes: [FileName: mode_t], after change: (String) -> Void = { _ in }
  ) throws -> Bool {
    let source = try SourceFolder()
    for name in ["a", "a/b"] as [FileName] { try source.makeFolder(name) }
    for name in ["file", "a/file", "a/b/file"] as [FileName] { try source.write(name, "text") }
    try #require(unsafe chmod(source.path, 0o755) == 0)
    for (name, mode) in modes { try #require(unsafe chmod(source.path + "/" + name.text, mode) == 0) }
    defer { _ = unsafe chmod(source.path, 0o755) }
    let root = try RealRoot(
      Descriptor.open(path: source.path, for: .place), pool: DescriptorPool(capacity: 16), path: source.path)
    let views = Views(listing: ViewListing(), depth: 4, conversions: nil, memory: MemoryBudget())
    let tree = try Tree(mirroring: root, views: views, isShared: true)
    defer { tree.stop() }
    let visibility = try #require(SourceVisibility(.user(Self.stranger, tree), RealFolder(root: root)))
    let name = source.path + "/" + path
    var status = stat()
    _ = unsafe lstat(name, &status)
    func nanoseconds(_ time: timespec) -> Int64 { Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec) }
    let state = DocumentSource.State(
      size: Int64(status.st_size), modified: nanoseconds(status.st_mtim), changed: nanoseconds(status.st_ctim),
      inode: Int64(bitPattern: UInt64(status.st_ino)))
    change(name)
    return try visibility.isReadable(Array(path.utf8), state)
  }

  /// The words in the index are those of an earlier file, which was perhaps private.
  @Test func filesThatWereReplacedSinceAreHidden() throws {
    for path in ["file", "a/b/file"] {
      #expect(try isVisible(path, [:]) { _ in })
      let isReplaced = try isVisible(path, [:]) { name in
        _ = unsafe open(name + ".new", O_CREAT | O_WRONLY | O_CLOEXEC, 0o644)
        _ = unsafe rename(name + ".new", name)
      }
      let isMadePublic = try isVisible(path, [FileName(path): 0o600]) { name in _ = unsafe chmod(name, 0o644) }
      #expect(!isReplaced && !isMadePublic, "\(path)")
    }
  }

  @Test func readableSourcesAreVisible() throws {
    for path in ["file", "a/file", "a/b/file", "a/", "a/b/", ""] { #expect(try isVisible(path, [:]), "\(path)") }
    #expect(try !isVisible("none", [:]) && !isVisible("a/none", [:]))
  }

  /// Each folder on the way must be listed and searched, and the source itself be read.
  @Test(arguments: [0o700, 0o744, 0o711, 0o750] as [mode_t])
  func foldersThatHideTheirEntriesHideSources(_ mode: mode_t) throws {
    for path in ["file", "a/file", "a/b/file", "a/", ""] { #expect(try !isVisible(path, [".": mode]), "\(path)") }
    for path in ["a/file", "a/b/file", "a/", "a/b/"] { #expect(try !isVisible(path, ["a": mode]), "\(path)") }
    for path in ["a/b/file", "a/b/"] { #expect(try !isVisible(path, ["a/b": mode]), "\(path)") }
    #expect(try isVisible("file", ["a": mode]) && isVisible("a/file", ["a/b": mode]))
  }

  @Test(arguments: [0o600, 0o640, 0o711] as [mode_t]) func unreadableFilesAreHidden(_ mode: mode_t) throws {
    for path in ["file", "a/file", "a/b/file"] {
      #expect(try !isVisible(path, [FileName(path): mode]), "\(path)")
    }
    #expect(try isVisible("a/file", ["file": mode]))
  }
}
