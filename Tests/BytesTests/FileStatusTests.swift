import Bytes
import Glibc
import TestSupport
import Testing

@testable import Files

@Suite struct FileStatusTests {
  /// A file whose modification and change time are equal.
  private static func status(_ seconds: Int, _ nanoseconds: Int) -> FileStatus {
    var raw = stat()
    raw.st_mtim = timespec(tv_sec: seconds, tv_nsec: nanoseconds)
    raw.st_ctim = raw.st_mtim
    return FileStatus(raw)
  }

  /// A file may be changed again without a different time: within a tick of the kernel, or two seconds if the file
  /// system has that resolution.
  @Test(arguments: [
    (100, 0, 100, 0, false), (100, 0, 101, 999_999_999, false), (100, 0, 102, 0, false), (100, 0, 102, 1, true),
    (100, 5, 100, 20_000_004, false), (100, 5, 100, 20_100_005, true), (100, 999_999_999, 101, 10_000_000, false),
    (100, 999_999_999, 101, 30_000_000, true), (105, 0, 100, 0, true), (101, 0, 100, 0, false),
  ])
  func timeIsSettledAfterItsResolutionElapsed(
    _ seconds: Int, _ nanoseconds: Int, _ now: Int, _ nowNanoseconds: Int, _ isSettled: Bool
  ) {
    let now = Timestamp(seconds: Int64(now), nanoseconds: Int32(nowNanoseconds))
    #expect(Self.status(seconds, nanoseconds).isSettled(at: now) == isSettled)
  }

  /// A file that is open can be read to its end after its last name is gone, which changes its ctime.
  @Test(arguments: [1, 2]) func onlyTheLastUnlinkingIsNoChange(names: Int) throws {
    let folder = try SourceFolder()
    try folder.write("a", [1])
    if names == 2 { try folder.makeHardLink("b", to: "a") }
    let file = try Descriptor.open(path: folder.path + "/a", for: .reading)
    let before = try FileStatus(of: file.raw)
    // A tick of the kernel's clock.
    _ = usleep(50_000)
    try folder.remove("a")
    let after = try FileStatus(of: file.raw)
    #expect(after.changed != before.changed && after.isSameState(as: before) == (names == 1))
  }
}

@Suite struct ExtensionTableTests {
  @Test func extensionTableKeepsInsertionOrder() {
    let names = (0..<200).map { FileExtension("x\($0)".utf8) }
    let table = ExtensionTable((0..<1000).map { (names[$0 % 200], $0) })
    for (index, name) in names.enumerated() {
      #expect(table[name] == stride(from: index, to: 1000, by: 200).map { $0 })
    }
    #expect(table["none"].isEmpty && ExtensionTable<Int>([])["zip"].isEmpty)
  }
}
