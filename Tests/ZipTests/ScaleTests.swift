import Bytes
import Codecs
import TestSupport
import Testing
import Zip

/// Archives so large that quadratic algorithms would not finish.
@Suite(.timeLimit(.minutes(10))) struct ScaleTests {
  /// Many empty entries that share a local header.
  static func archive(of names: some Sequence<String>) -> [UInt8] {
    let layout = ZipFixture(ZipFixtureEntry("", "")).layout()
    let header = Array(layout.bytes[layout.directory..<layout.end])
    var bytes = Array(layout.bytes[..<layout.directory])
    let directory = bytes.count
    var count = 0
    for name in names {
      let name = Array(name.utf8)
      bytes += header[..<28] + [UInt8(truncatingIfNeeded: name.count), UInt8(name.count >> 8)] + header[30...] + name
      count += 1
    }
    let directorySize = bytes.count - directory
    var end = ZipFixture()
    end.claimedCount = UInt16(truncatingIfNeeded: count)
    end.claimedDirectorySize = UInt32(directorySize)
    end.claimedDirectoryOffset = UInt32(directory)
    return bytes + end.bytes()
  }

  @Test func hundredThousandEntriesOfOneNameAreFound() throws {
    let count = 100_000
    let archive = try ZipArchive(bytes: Self.archive(of: repeatElement("same.txt", count: count)))
    #expect(archive.count == count + 1)
    #expect(archive.find("same.txt") == 1)
    for number in [1, 2, 500, 65_536, count - 1] {
      #expect(archive.find("same (\(number)).txt") == UInt32(number + 1))
    }
    #expect(archive.find("same (\(count)).txt") == nil)
  }

  @Test func moreThanSixteenBitsOfEntriesAreFound() throws {
    let count = 70_000
    let archive = try ZipArchive(bytes: Self.archive(of: (0..<count).lazy.map { "d\($0 % 10)/f\($0)" }))
    #expect(archive.count == count + 11)
    #expect(archive.children(of: try #require(archive.find("d9"))).count == count / 10)
    #expect(archive.find("d9/f69999") != nil)
    #expect(archive.fault == nil)
  }

  @Test func exactlySixteenBitsOfEntriesAreFound() throws {
    let archive = try ZipArchive(bytes: Self.archive(of: (0..<65_536).lazy.map { "f\($0)" }))
    #expect(archive.count == 65_537)
  }

  @Test func truncatedDuplicateNamesTakeLinearTime() throws {
    // Each twice; the second ones, with numbers appended, are all equal up to where they are truncated.
    let stem = String(repeating: "n", count: 250)
    let names = (0..<4000).map { stem + String($0 + 10_000) }
    let archive = try ZipArchive(bytes: Self.archive(of: names + names))
    #expect(archive.count == 8001)
  }

  @Test func deepDirectoriesAreFound() throws {
    let path = (0..<1000).map { "d\($0 % 10)" }.joined(separator: "/")
    let archive = try ZipArchive(bytes: Self.archive(of: ["\(path)/a", "\(path)/b", path + "/"]))
    #expect(archive.count == 1003)
    #expect(archive.find("\(path)/b") != nil)
  }

  @Test func overdeepEntriesMoveUnderTooDeep() throws {
    let path = String(repeating: "a/", count: 30_000)
    let archive = try ZipArchive(bytes: Self.archive(of: [path + "leaf", "b"]))
    #expect(archive.find("Too Deep/leaf") != nil)
    #expect(archive.count == 4)
  }
}
