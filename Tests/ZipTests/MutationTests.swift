import Bytes
import Codecs
import TestSupport
import Testing
import Zip

/// Archives with a few bytes changed: whatever comes out, the process stays and an entry has the size it claims.
@Suite(.timeLimit(.minutes(10))) struct MutationTests {
  private static let text = Array(String(repeating: "The quick brown fox. ", count: 40).utf8)

  private static let seeds: [[UInt8]] = [
    ZipFixture(
      ZipFixtureEntry("a/b.txt", text), ZipFixtureEntry("a/b.txt", text).deflated(), ZipFixtureEntry("empty/"),
      .link("l", to: "a/b.txt"), .link("up", to: "../x")
    ).bytes(),
    ZipFixture(
      ZipFixtureEntry("zeros", [UInt8](repeating: 0, count: 3000)).deflated(as: ZipDeflate.zeros(3000)),
      ZipFixtureEntry("d", text).deflated().with {
        $0.hasDataDescriptor = true
        $0.centralExtra =
          ZipExtra.extendedTimestamp(modified: 5) + ZipExtra.ntfs(modified: 77) + ZipExtra.unicodePath("ü", for: [0x64])
      }
    ).bytes(),
    {
      var fixture = ZipFixture(
        ZipFixtureEntry("big", text).deflated().with { $0.isZip64 = true },
        ZipFixtureEntry("big", text).with { $0.isZip64 = true })
      fixture.endsInZip64 = true
      fixture.prefix = Array("#!/bin/sh\n".utf8)
      fixture.comment = Array("PK\u{5}\u{6} comment".utf8)
      return fixture.bytes()
    }(),
  ]

  private static func mutated(_ seed: [UInt8], _ numbers: inout SeededNumbers) -> [UInt8] {
    var bytes = seed
    for _ in 0...numbers.below(4) {
      guard !bytes.isEmpty else { break }
      let place = numbers.below(bytes.count)
      switch numbers.below(7) {
      case 0: bytes[place] ^= 1 << UInt8(numbers.below(8))
      case 1: bytes[place] = [0, 0xff, 0x7f, 0x80, 0x2f, 0x2e][numbers.below(6)]
      case 2: bytes.insert(contentsOf: numbers.bytes(1 + numbers.below(6)), at: place)
      case 3: bytes.removeSubrange(place..<min(bytes.count, place + 1 + numbers.below(6)))
      case 4: bytes.removeLast(numbers.below(bytes.count / 8 + 1))
      // A number at its limit, where numbers are most likely.
      case 5: for index in place..<min(bytes.count, place + 1 << numbers.below(4)) { bytes[index] = 0xff }
      default:
        let from = numbers.below(bytes.count)
        bytes.insert(contentsOf: bytes[from..<min(bytes.count, from + 50)], at: place)
      }
    }
    return bytes
  }

  @Test(arguments: 0..<8) func mutatedArchivesNeverCrash(batch: Int) throws {
    var numbers = SeededNumbers(seed: UInt64(batch))
    let cache = StretchCache(capacity: 4 << 20)
    var opened = 0
    for round in 0..<500 {
      let bytes = Self.mutated(Self.seeds[round % Self.seeds.count], &numbers)
      guard let archive = try? ZipArchive(bytes: bytes, cache: cache) else { continue }
      opened += 1
      // Each header takes at least 46 bytes and each folder a byte of a path.
      #expect(archive.count <= bytes.count)
      check(archive, &numbers)
    }
    // Else the loop would show little.
    #expect(opened > 200)
  }

  @Test(.enabled("the corpus is beside the project") { sharedCorpus != nil }, arguments: 0..<4)
  func mutatedRealArchivesNeverCrash(batch: Int) throws {
    var numbers = SeededNumbers(seed: 100 + UInt64(batch))
    let cache = StretchCache(capacity: 4 << 20)
    let archives = CorpusArchive.all.compactMap { try? $0.bytes() }.filter { $0.count < 8192 }
    for _ in 0..<100 {
      let bytes = Self.mutated(archives[numbers.below(archives.count)], &numbers)
      guard let archive = try? ZipArchive(bytes: bytes, cache: cache) else { continue }
      check(archive, &numbers)
    }
  }

  /// Walks the tree and reads what can be read, up to a few mebibytes an entry.
  private func check(_ archive: ZipArchive, _ numbers: inout SeededNumbers) {
    var seen = 0
    var folders = [ZipArchive.root]
    while let folder = folders.popLast() {
      for child in archive.children(of: folder) {
        seen += 1
        let name = archive.name(of: child)
        #expect(!name.isEmpty && name.count <= 255 && !name.contains(0x2f) && !name.contains(0))
        if archive.node(child).kind == .folder { folders.append(child) } else { read(archive, child, &numbers) }
      }
    }
    #expect(seen == archive.count - 1)
  }

  private func read(_ archive: ZipArchive, _ index: UInt32, _ numbers: inout SeededNumbers) {
    let size = archive.node(index).size
    #expect(size >= 0)
    guard let source = try? archive.open(index, .blocking) else { return }
    #expect(source.size == size)
    for offset in [0, numbers.below(Int(min(size, 1 << 40)) + 1)] {
      guard let got = try? source.partialBytes(at: Int64(offset), count: 100_000) else { continue }
      #expect(Int64(got.count) == min(100_000, size - Int64(offset)))
    }
  }
}
