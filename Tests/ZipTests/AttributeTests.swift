import Bytes
import Entries
import Foundation
import TestSupport
import Testing
import Zip

/// An entry and its expected stat(2) result.
struct AttributeCase: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let entry: ZipFixtureEntry
  let permissions: UInt16?
  let modified: Timestamp?

  init(_ description: String, _ entry: ZipFixtureEntry, permissions: UInt16? = nil, modified: Timestamp? = nil) {
    testDescription = description
    self.entry = entry
    self.permissions = permissions
    self.modified = modified
  }
}

@Suite struct AttributeTests {
  @Test(arguments: modes + times) func attributesAreAsRecorded(_ attribute: AttributeCase) throws {
    let archive = try ZipArchive(ZipFixture(attribute.entry))
    let node = archive.node(try #require(archive.children(of: ZipArchive.root).first))
    if let permissions = attribute.permissions {
      #expect(String(node.permissions, radix: 8) == String(permissions, radix: 8))
    }
    if let modified = attribute.modified { #expect(node.modified == modified) }
  }

  @Test func timesOfTheSameDayDiffer() throws {
    // 2021-01-12 at 9:00, 17:30:10 and 9:00 again; only the last one has minutes and seconds.
    let times: [UInt16] = [9 << 11, 17 << 11 | 30 << 5 | 5, 9 << 11, 9 << 11 | 59 << 5 | 29]
    let entries = times.enumerated().map { number, time in
      ZipFixtureEntry("\(number)", "x").with {
        $0.dosDate = 41 << 9 | 1 << 5 | 12
        $0.dosTime = time
      }
    }
    let archive = try ZipArchive(ZipFixture(entries))
    let found = try (0..<4).map { archive.node(try #require(archive.find("\($0)"))).modified.seconds }
    let behind: [Int64] = [0, 30_610, 0, 3598]
    #expect(found.map { $0 - found[0] } == behind)
  }

  @Test func impliedDirectoryTakesTimeOfItsFirstEntry() throws {
    let early = ZipFixtureEntry("a/b/one", "1").with {
      $0.centralExtra = ZipExtra.extendedTimestamp(modified: 1_000_000)
    }
    let late = ZipFixtureEntry("a/b/two", "2").with {
      $0.centralExtra = ZipExtra.extendedTimestamp(modified: 2_000_000)
    }
    let archive = try ZipArchive(ZipFixture(early, late))
    #expect(archive.node(try #require(archive.find("a"))).modified.seconds == 1_000_000)
    #expect(archive.node(try #require(archive.find("a/b"))).modified.seconds == 1_000_000)
    #expect(archive.node(ZipArchive.root).modified == ZipArchive.testTime)
  }

  @Test func directoryAfterItsFilesKeepsItsAttributes() throws {
    let file = ZipFixtureEntry("a/one", "1").with { $0.centralExtra = ZipExtra.extendedTimestamp(modified: 1_000_000) }
    let folder = ZipFixtureEntry("a/").unix(mode: 0o040700).with {
      $0.centralExtra = ZipExtra.extendedTimestamp(modified: 3_000_000)
    }
    let archive = try ZipArchive(ZipFixture(file, folder))
    let node = archive.node(try #require(archive.find("a")))
    #expect(node.modified.seconds == 3_000_000)
    #expect(node.permissions == 0o700)
  }

  static let modes: [AttributeCase] = [
    AttributeCase("a Unix mode is kept", ZipFixtureEntry("a", "x").unix(mode: 0o100600), permissions: 0o600),
    AttributeCase("a Unix program stays one", ZipFixtureEntry("a", "x").unix(mode: 0o100755), permissions: 0o755),
    AttributeCase(
      "a Unix mode without a type is kept", ZipFixtureEntry("a", "x").unix(mode: 0o640), permissions: 0o640),
    AttributeCase("a Unix folder's mode is kept", ZipFixtureEntry("a/").unix(mode: 0o040700), permissions: 0o700),
    AttributeCase(
      "macOS modes are Unix modes",
      ZipFixtureEntry("a", "x").unix(mode: 0o100711).with { $0.host = .macOS }, permissions: 0o711),
    AttributeCase("no mode on Unix is the default", ZipFixtureEntry("a", "x").unix(mode: 0), permissions: 0o644),
    AttributeCase("a DOS file has the default", ZipFixtureEntry("a", "x"), permissions: 0o644),
    AttributeCase(
      "a read-only DOS file has the default",
      ZipFixtureEntry("a", "x").with { $0.externalAttributes = 1 }, permissions: 0o644),
    AttributeCase(
      "a DOS folder has the default",
      ZipFixtureEntry("a/").with { $0.externalAttributes = 0x10 }, permissions: 0o755),
    AttributeCase(
      "a DOS file keeps recorded rights to execute",
      ZipFixtureEntry("a", "x").with { $0.externalAttributes = 0o100700 << 16 }, permissions: 0o744),
  ]

  /// A local date and time as a point in time.
  private static func local(_ year: Int, _ month: Int, _ day: Int, _ hour: Int, _ minute: Int, _ second: Int)
    -> Timestamp
  {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .current
    let date = calendar.date(
      from: DateComponents(year: year, month: month, day: day, hour: hour, minute: minute, second: second))
    return Timestamp(seconds: Int64(date?.timeIntervalSince1970 ?? 0))
  }

  private static func dated(_ date: UInt16, _ time: UInt16, _ extra: [UInt8] = []) -> ZipFixtureEntry {
    ZipFixtureEntry("a", "x").with {
      $0.dosDate = date
      $0.dosTime = time
      $0.centralExtra = extra
    }
  }

  /// 2024-05-03 12:34:56.
  private static let dosDate: UInt16 = 44 << 9 | 5 << 5 | 3
  private static let dosTime: UInt16 = 12 << 11 | 34 << 5 | 28

  /// An extended timestamp and an NTFS time.
  private static func both(
    _ extended: Int32, _ seconds: Int64, _ fraction: UInt64, ntfsFirst: Bool = false
  ) -> [UInt8] {
    let fields = [
      ZipExtra.extendedTimestamp(modified: extended),
      ZipExtra.ntfs(modified: ZipExtra.ntfsTicks(seconds: seconds, hundredNanoseconds: fraction)),
    ]
    return (ntfsFirst ? fields.reversed() : fields).flatMap(\.self)
  }

  static let times: [AttributeCase] = [
    AttributeCase("DOS times are local", dated(dosDate, dosTime), modified: local(2024, 5, 3, 12, 34, 56)),
    AttributeCase(
      "DOS times in winter are local", dated(44 << 9 | 1 << 5 | 3, 0), modified: local(2024, 1, 3, 0, 0, 0)),
    AttributeCase("no DOS date is its first day", dated(0, 0), modified: local(1980, 1, 1, 0, 0, 0)),
    AttributeCase(
      "the last DOS date is read", dated(127 << 9 | 12 << 5 | 31, 23 << 11 | 59 << 5 | 29),
      modified: local(2107, 12, 31, 23, 59, 58)),
    AttributeCase(
      "the extended timestamp is exact", dated(dosDate, dosTime, ZipExtra.extendedTimestamp(modified: 1_234_567_891)),
      modified: Timestamp(seconds: 1_234_567_891)),
    AttributeCase(
      "a time before 1970 is kept", dated(dosDate, dosTime, ZipExtra.extendedTimestamp(modified: -86_401)),
      modified: Timestamp(seconds: -86_401)),
    AttributeCase(
      "times after 2038 are unsigned where the DOS time says so",
      dated(70 << 9 | 1 << 5 | 1, 0, ZipExtra.extendedTimestamp(modified: -1_769_944_896)),
      modified: Timestamp(seconds: 2_525_022_400)),
    AttributeCase(
      "times of the next century are beyond 32 bits",
      dated(127 << 9 | 1 << 5 | 1, 0, ZipExtra.extendedTimestamp(modified: 28_304_705)),
      modified: Timestamp(seconds: 4_323_272_001)),
    AttributeCase(
      "an extended timestamp without a time of modification says nothing",
      dated(dosDate, dosTime, ZipExtra.field(0x5455, [2, 1, 2, 3, 4])), modified: local(2024, 5, 3, 12, 34, 56)),
    AttributeCase(
      "NTFS times have fractions",
      dated(
        dosDate, dosTime,
        ZipExtra.ntfs(modified: ZipExtra.ntfsTicks(seconds: 1_600_000_000, hundredNanoseconds: 1_234_567))),
      modified: Timestamp(seconds: 1_600_000_000, nanoseconds: 123_456_700)),
    AttributeCase(
      "NTFS times before 1970 are kept",
      dated(dosDate, dosTime, ZipExtra.ntfs(modified: ZipExtra.ntfsTicks(seconds: -10, hundredNanoseconds: 5_000_000))),
      modified: Timestamp(seconds: -10, nanoseconds: 500_000_000)),
    AttributeCase(
      "an NTFS time that agrees with the extended timestamp is the finer one",
      dated(dosDate, dosTime, both(1_600_000_000, 1_600_000_000, 1_234_567)),
      modified: Timestamp(seconds: 1_600_000_000, nanoseconds: 123_456_700)),
    AttributeCase(
      "the order of the two does not count",
      dated(dosDate, dosTime, both(1_600_000_000, 1_600_000_000, 9_999_999, ntfsFirst: true)),
      modified: Timestamp(seconds: 1_600_000_000, nanoseconds: 999_999_900)),
    AttributeCase(
      "an NTFS time that differs from the extended timestamp is not used",
      dated(dosDate, dosTime, both(1_600_000_000, 1_600_000_001, 0)), modified: Timestamp(seconds: 1_600_000_000)),
    AttributeCase(
      "an NTFS time of the second before is not used",
      dated(dosDate, dosTime, both(1_600_000_000, 1_599_999_999, 9_999_999, ntfsFirst: true)),
      modified: Timestamp(seconds: 1_600_000_000)),
    AttributeCase(
      "the NTFS time counts before the old Unix one",
      dated(
        dosDate, dosTime,
        ZipExtra.unix1(modified: 987_654_321) + ZipExtra.ntfs(modified: ZipExtra.ntfsTicks(seconds: 1_600_000_000))),
      modified: Timestamp(seconds: 1_600_000_000)),
    AttributeCase(
      "Info-ZIP's first Unix field has the time", dated(dosDate, dosTime, ZipExtra.unix1(modified: 987_654_321)),
      modified: Timestamp(seconds: 987_654_321)),
    AttributeCase(
      "a field that is too short does not hide the next",
      dated(dosDate, dosTime, ZipExtra.field(0x5455, [1, 2]) + ZipExtra.unix1(modified: 987_654_321)),
      modified: Timestamp(seconds: 987_654_321)),
    AttributeCase(
      "a field that is cut off says nothing", dated(dosDate, dosTime, [0x55, 0x54, 99, 0, 1]),
      modified: local(2024, 5, 3, 12, 34, 56)),
  ]
}
