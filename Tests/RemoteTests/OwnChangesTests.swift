import Bytes
import Testing

@testable import ffremote

/// The times of changes, by which earlier answers of a server are known to be outdated.
@Suite struct OwnChangesTests {
  private static func path(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test func changeConcernsItsEntryAndItsFolder() {
    let changes = OwnChanges(in: "/tmp")
    func changesEntries(of path: String) -> Bool { changes.last(in: Self.path(path), isView: false) > 0 }
    func changesItself(_ path: String) -> Bool { changes.last(of: Self.path(path), isView: false) > 0 }
    #expect(changes.latest == 0 && !changesEntries(of: "/"))
    changes.note(Self.path("/a/b"))
    // The folder's own attributes change, too.
    #expect(["/a/b", "/a"].allSatisfy(changesItself) && !["/", "/a/b/c", "/a/bb"].contains(where: changesItself))
    #expect(changesEntries(of: "/a") && !["/", "/a/b", "/a/bb"].contains(where: changesEntries(of:)))
    #expect(changes.last(in: Self.path("/x"), isView: true) == changes.latest && changes.latest > 0)
    changes.note(Self.path("/c"))
    #expect(changesEntries(of: "/") && changes.last(in: Self.path("/a"), isView: false) <= changes.latest)
    changes.noteRenamedFolder()
    #expect(["/x", "/x/y"].allSatisfy(changesEntries(of:)) && ["/x", "/x/y"].allSatisfy(changesItself))
  }

  @Test(arguments: [("/", "/"), ("/a", "/"), ("/a/b", "/a"), ("/a/b/c", "/a/b"), ("", "/")])
  func parentIsTheFolderOfAnEntry(_ path: String, _ parent: String) {
    #expect(OwnChanges.parent(of: Self.path(path)) == Self.path(parent))
  }

  @Test(
    arguments: [
      (0, 0, "0.000000000"), (5, 7, "5.000000007"), (1, 999_999_999, "1.999999999"), (-3, 120_000_000, "-3.120000000"),
    ] as [(Int64, Int32, String)])
  func timesAreSentWithNineDigits(_ seconds: Int64, _ nanoseconds: Int32, _ text: String) {
    let time = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
    #expect(time.decimal == text)
    let short = time.inMilliseconds
    #expect(short.seconds == seconds && short.nanoseconds == nanoseconds / 1_000_000 * 1_000_000)
  }
}
