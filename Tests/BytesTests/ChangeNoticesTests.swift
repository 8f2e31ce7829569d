import Bytes
import Glibc
import TestSupport
import Testing

@testable import Files

/// Changes of files in watched directories.
@Suite struct ChangeNoticesTests {
  @Test func changedNamesAreKnown() throws {
    let folder = try SourceFolder()
    for name: FileName in ["a", "b"] { try folder.write(name, [1]) }
    let place = try Descriptor.open(path: folder.path, for: .listing)
    let notices = ChangeNotices()
    let watch = try #require(notices.watch(place.raw))
    #expect(!watch.hasChanges)
    #expect(unsafe chmod(folder.path + "/a", 0o600) == 0)
    notices.update()
    #expect(watch.hasChanges && watch.changes.contains("a") && !watch.changes.contains("b"))
  }

  /// Names beyond a limit are not kept: any file may have changed then.
  @Test func manyChangesAreAnyChange() throws {
    let folder = try SourceFolder()
    let place = try Descriptor.open(path: folder.path, for: .listing)
    let notices = ChangeNotices()
    let watch = try #require(notices.watch(place.raw))
    for number in 0..<5000 {
      try folder.write(FileName("f\(number)"), [1])
      if number.isMultiple(of: 1000) { notices.update() }
    }
    notices.update()
    #expect(watch.hasChanges && watch.changes.contains("never"))
  }
}
