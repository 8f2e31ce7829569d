import Bytes
import Codecs
import Fuzzing
import TestSupport
import Testing
import Zip

@Suite(.enabled("needs python3 and 7z") { !MadeArchive.all.isEmpty })
struct DecoderTests {
  private func archive(_ made: MadeArchive, spool: @escaping SpoolMaker = { MemorySpool() }) throws -> ZipArchive {
    var options = ZipOptions()
    options.passwords = Passwords([Array("wrong".utf8), Array(made.password.utf8)])
    options.spool = spool
    return try ZipArchive(
      ByteArraySource(made.bytes), modified: ZipArchive.testTime, cache: BlockCache(capacity: 2 << 20),
      options: options)
  }

  @Test func archivesOfManyProgramsAreTested() { #expect(MadeArchive.all.count >= 20) }

  @Test(arguments: MadeArchive.all) func everyEntryIsDecodedCorrectly(_ made: MadeArchive) throws {
    let archive = try archive(made)
    for (name, content) in MadeArchive.contents {
      let node = try #require(archive.find(name))
      #expect(areSame(try archive.content(of: node), content[...]), "\(name)")
    }
  }

  @Test(arguments: MadeArchive.all) func entriesAreReadCorrectlyAtAnyOffset(_ made: MadeArchive) throws {
    for spool: SpoolMaker in [{ MemorySpool() }, { nil }, { MemorySpool(capacity: 1 << 20) }] {
      let archive = try archive(made, spool: spool)
      let source = try archive.open(#require(archive.find("long")), .blocking)
      let plain = try #require(MadeArchive.contents["long"])
      var numbers = SeededNumbers(seed: 5)
      for _ in 0..<8 {
        let offset = numbers.below(plain.count)
        let length = numbers.below(200_000)
        let got = try source.partialBytes(at: Int64(offset), count: length)
        #expect(areSame(got, plain[offset..<min(plain.count, offset + length)]))
      }
      #expect(areSame(try source.readThrough(), plain[...]))
    }
  }

  @Test(arguments: MadeArchive.all, [Int.max, 1 << 20])
  func sixThreadsReadCorrectly(_ made: MadeArchive, spool capacity: Int) throws {
    let archive = try archive(made) { MemorySpool(capacity: capacity) }
    let plain = try #require(MadeArchive.contents["long"])
    let node = try #require(archive.find("long"))
    try onThreads(6) { thread in
      let source = try archive.open(node, .blocking)
      var numbers = SeededNumbers(seed: UInt64(thread))
      for _ in 0..<8 {
        let offset = numbers.below(plain.count)
        let got = try source.partialBytes(at: Int64(offset), count: 70_000)
        #expect(areSame(got, plain[offset..<min(plain.count, offset + 70_000)]))
      }
    }
  }

  @Test(arguments: MadeArchive.all) func damagedDataIsNeverReturnedAsValid(_ made: MadeArchive) throws {
    let plain = try #require(MadeArchive.contents["long"])
    var numbers = SeededNumbers(seed: 8)
    for _ in 0..<3 {
      var bytes = made.bytes
      // In the middle of the long entry, which comes first and is nearly all of the archive.
      let place = 200 + numbers.below(bytes.count / 2)
      bytes[place] ^= 1 << UInt8(numbers.below(8))
      let damaged = MadeArchive(testDescription: "", bytes: bytes, password: made.password)
      let archive = try archive(damaged)
      do {
        let got = try archive.content(of: #require(archive.find("long")))
        #expect(areSame(got, plain[...]))
      } catch let fault as Fault { #expect(fault.kind == .damaged) }
    }
  }

  private func isHeader(_ bytes: [UInt8], at place: Int) -> Bool {
    bytes[place...].starts(with: [0x50, 0x4b, 1, 2]) && bytes[(place + 46)...].starts(with: "long".utf8)
  }

  @Test(arguments: MadeArchive.all) func wrongClaimedSizeIsReportedAsDamage(_ made: MadeArchive) throws {
    for change in [-1, 1, -900_000, 1 << 20] {
      var bytes = made.bytes
      let header = try #require(bytes.indices.dropLast(50).last { isHeader(bytes, at: $0) })
      let size = UInt32(try #require(MadeArchive.contents["long"]).count + change)
      for index in 0..<4 { bytes[header + 24 + index] = UInt8(truncatingIfNeeded: size >> (8 * UInt32(index))) }
      let archive = try archive(MadeArchive(testDescription: "", bytes: bytes, password: made.password))
      let fault = #expect(throws: Fault.self) { _ = try archive.content(of: #require(archive.find("long"))) }
      #expect(fault?.kind == .damaged)
    }
  }

  @Test(arguments: MadeArchive.open) func nonblockingReadDoesNotDecodeLongEntry(_ made: MadeArchive) throws {
    let archive = try archive(made)
    let source = try archive.open(#require(archive.find("long")), .immediate)
    #expect(throws: Fault.later) { try source.partialBytes(at: 0, count: 10, .immediate) }
    _ = try source.partialBytes(at: 0, count: 10)
    let long = try #require(MadeArchive.contents["long"])
    #expect(try source.partialBytes(at: 5, count: 3, .immediate) == Array(long[5..<8]))
  }

  @Test func secondReaderReusesDecodedData() throws {
    let made = try #require(MadeArchive.open.first { $0.testDescription == "bzip2 by 7z" })
    let counting = FailingSource(ByteArraySource(made.bytes)) { _, _ in nil }
    var options = ZipOptions()
    options.spool = { MemorySpool() }
    let archive = try ZipArchive(
      counting, modified: ZipArchive.testTime, cache: BlockCache(capacity: 0), options: options)
    let node = try #require(archive.find("long"))
    let first = try archive.open(node, .blocking)
    _ = try first.readThrough()
    let before = counting.readCount
    let second = try archive.open(node, .blocking)
    _ = try second.readThrough()
    #expect(counting.readCount == before)
    #expect(second.extent(at: 0, count: 1000)?.count == 1000)
    let end = try #require(second.extent(at: second.size - 3, count: 1000))
    #expect(end.count == 3 && end.offset == second.size - 3)
    #expect(second.extent(at: second.size, count: 1) == nil)
    #expect(second.workAhead(of: 0) == .none)
  }

  @Test func oversizedDictionariesAreRefused() throws {
    // A .xz stream whose block requires 1.5 GiB, as written by `xz --lzma2=dict=1536MiB`, and a Zstandard frame with 2
    // GiB.
    let zstd: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0, 0]
    let entry = ZipFixtureEntry("a", [UInt8](repeating: 0, count: 400_000)).with {
      $0.method = 93
      $0.data = zstd + [UInt8](repeating: 1, count: 1000)
    }
    let archive = try ZipArchive(ZipFixture(entry))
    let fault = #expect(throws: Fault.self) { _ = try archive.content(of: 1) }
    #expect(fault?.kind == .limit)
  }
}
