import Bytes
import Codecs
import Entries
import Foundation
import TestSupport
import Testing
import Zip

@Suite struct LimitTests {
  private func fault(_ archive: ZipArchive, _ name: String) throws -> Fault? {
    do throws(Fault) {
      _ = try archive.content(of: archive.find(name) ?? 0)
      return nil
    } catch { return error }
  }

  private let zeros = ZipFixtureEntry("zeros", [UInt8](repeating: 0, count: 4 << 20)).deflated(
    as: ZipDeflate.zeros(4 << 20))

  @Test func compressionRatioIsLimited() throws {
    var options = ZipOptions()
    options.largestRatio = 100
    let fixture = ZipFixture(zeros, ZipFixtureEntry("good", "x"))
    let archive = try ZipArchive(fixture, options)
    let found = try fault(archive, "zeros")
    #expect(found?.kind == .limit)
    #expect(found?.reason.contains("\(4 << 20)") == true && found?.reason.contains("100:1") == true)
    #expect(archive.node(1).size == 4 << 20)
    #expect(try fault(archive, "good") == nil)
    options.largestRatio = 2000
    #expect(try fault(ZipArchive(fixture, options), "zeros") == nil)
  }

  @Test func shortEntriesCanHaveAnyRatio() throws {
    var options = ZipOptions()
    options.largestRatio = 2
    let short = ZipFixtureEntry("zeros", [UInt8](repeating: 0, count: 1 << 20)).deflated(as: ZipDeflate.zeros(1 << 20))
    #expect(try fault(ZipArchive(ZipFixture(short), options), "zeros") == nil)
  }

  /// An image of zeros is honest at any ratio: bzip2, LZMA and others exceed the limit with it, as 7z and tar.xz do.
  @Test(arguments: ["BZip2", "LZMA", "Deflate64", "Deflate"]) func imageOfZerosIsRead(method: String) async throws {
    try await withScratch { scratch in
      let made = try await shell(
        """
        cd "$1/source"; truncate -s 5M z.img; seq 9 >> z.img; 7z a -bd -tzip -mm=\(method) a.zip z.img > ../7z.txt
        """, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      let bytes = try Data(contentsOf: URL(filePath: scratch.path + "/source/a.zip"))
      let archive = try ZipArchive(
        ByteArraySource(Array(bytes)), modified: ZipArchive.testTime, cache: BlockCache(capacity: 4 << 20))
      let found = try archive.content(of: archive.find("z.img") ?? 0)
      #expect(found == [UInt8](repeating: 0, count: 5 << 20) + Array("1\n2\n3\n4\n5\n6\n7\n8\n9\n".utf8))
    }
  }

  @Test(arguments: [9, 12, 14, 93, 95, 98]) func entrySizeIsLimitedForEveryMethod(method: UInt16) throws {
    func reason(_ size: UInt64) throws -> Fault? {
      let entry = ZipFixtureEntry("a", "short").with {
        ($0.method, $0.claimedSize) = (method, size)
      }
      var options = ZipOptions()
      options.foreignDecoder = { (_, _) throws(Fault) in throw Fault(.damaged, "is foreign") }
      return try fault(ZipArchive(ZipFixture(entry), options), "a")
    }
    #expect(try reason((1 << 30) + 1)?.kind == .limit)
    #expect(try reason(1 << 30)?.kind != .limit)
  }

  @Test func configuredEntrySizeLimitApplies() throws {
    var options = ZipOptions()
    options.largestSize = 10
    let archive = try ZipArchive(
      ZipFixture(ZipFixtureEntry("a", "0123456789"), ZipFixtureEntry("b", "0123456789+")), options)
    #expect(try fault(archive, "a") == nil)
    #expect(try fault(archive, "b")?.kind == .limit)
  }

  @Test func overlappingEntriesAreDamaged() throws {
    // The second and fourth start at the first one's offset; the directory claims more for the third than there is.
    var entries = ["a", "b", "c", "d"].map { ZipFixtureEntry($0, "content of \($0)") }
    entries[1].claimedOffset = 0
    entries[3].claimedOffset = 0
    let archive = try ZipArchive(ZipFixture(entries))
    #expect(archive.lines() == ["a = content of a", "b ! damaged", "c = content of c", "d ! damaged"])
    #expect(try fault(archive, "b")?.reason == "its data overlap those of a")
  }

  /// An entry's data and the 30 bytes of its local header must not overlap others, to the byte.
  @Test(arguments: [(-1, true), (0, false)]) func overlapOfOneByteIsDetected(distance: Int, isOverlap: Bool) throws {
    let content = String(repeating: "a", count: 100)
    let entries = [
      ZipFixtureEntry("a", content), ZipFixtureEntry("b", "b").with { $0.claimedOffset = UInt64(130 + distance) },
    ]
    let reason = try fault(ZipArchive(ZipFixture(entries)), "b")?.reason
    #expect((reason == "its data overlap those of a") == isOverlap)
  }

  @Test func entryInsideAnotherIsNotRead() throws {
    let inner = ZipFixture(ZipFixtureEntry("x", "inner"))
    let outer = ZipFixtureEntry("outer", inner.bytes())
    let layout = ZipFixture(outer).layout()
    var quoted = ZipFixtureEntry("x", "inner")
    quoted.claimedOffset = UInt64(layout.data[0])
    let archive = try ZipArchive(ZipFixture(outer, quoted))
    #expect(try fault(archive, "outer") == nil)
    #expect(try fault(archive, "x")?.kind == .damaged)
  }

  @Test func overclaimingEntryAffectsNoOther() throws {
    let greedy = ZipFixtureEntry("greedy", [UInt8](repeating: 7, count: 200_000)).deflated().with {
      $0.claimedCompressedSize = 1 << 30
    }
    let archive = try ZipArchive(ZipFixture(greedy, ZipFixtureEntry("a", "1"), ZipFixtureEntry("b", "2")))
    #expect(try fault(archive, "greedy")?.kind == .damaged)
    #expect(try fault(archive, "a") == nil)
    #expect(try fault(archive, "b") == nil)
  }

  @Test func directoryCanBeInAnyOrder() throws {
    let layout = ZipFixture(ZipFixtureEntry("a", "1"), ZipFixtureEntry("b", "2")).layout()
    var entries = [ZipFixtureEntry("b", "1"), ZipFixtureEntry("a", "2")]
    entries[0].claimedOffset = UInt64(layout.localHeaders[1])
    entries[1].claimedOffset = UInt64(layout.localHeaders[0])
    entries[0].claimedCRC = ZipChecksum.crc32([0x32])
    entries[1].claimedCRC = ZipChecksum.crc32([0x31])
    #expect(try ZipArchive(ZipFixture(entries)).lines() == ["b = 2", "a = 1"])
  }
}
