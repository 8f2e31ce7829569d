import Bytes
import Entries
import Tar
import TestSupport
import Testing

/// The trees of TAR archives.
@Suite(.timeLimit(.minutes(5))) struct TarArchiveTests {
  private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

  /// GNU tar's second volume: the header of the continued file has no signature.
  @Test func continuedFileHasItsBytesAtTheirOffset() throws {
    let volume = TarFixture().adding("d/f", type: "M", magic: "", Array("the end".utf8), offset: 5)
      .adding("g", Array("whole".utf8)).ending().bytes
    #expect(TarArchive.isStart(volume[..<512]))
    let archive = try TarArchive(volume)
    #expect(archive.lines() == ["d/", "d/f ! damaged", "g = whole"])
    let entry = archive.find("d/f")
    #expect(archive.entries.nodes[Int(entry)].size == 12)
    let file = try archive.open(entry, .blocking)
    #expect(try file.bytes(at: 5, atMost: 100) == Array("the end".utf8))
    #expect(throws: Fault.self) { try file.bytes(at: 4, atMost: 2) }
    #expect(archive.fault?.reason == "continues from another volume of the archive, which has the start of d/f")
    let cut = try TarArchive(Array(volume[..<1540]))
    #expect(cut.fault?.reason.hasPrefix("ends within g; continues from another volume") == true)
  }

  @Test func allTarEntryTypesAreInTheTree() throws {
    let archive = try TarArchive(
      TarFixture().adding("d/", type: "5").adding("./d/a", Self.text("one")).adding("d/b", type: "1", link: "d/a")
        .adding("l", type: "2", link: "d/a").adding("/out", type: "2", link: "/etc/passwd").adding("dev", type: "3")
        .adding("p", type: "6").adding("q/", type: "\0", magic: "").adding("gone", type: "1", link: "nowhere").ending()
        .bytes)
    #expect(
      archive.lines() == [
        "d/", "d/a = one", "d/b = one", "l -> d/a", "out = /etc/passwd", "dev = character device 0:0\n",
        "p = named pipe\n", "q/", "gone ! damaged",
      ])
    #expect(archive.fault == nil)
    let (file, other) = (archive.find("d/a"), archive.find("d/b"))
    #expect(archive.entries.primary(of: other) == file && archive.entries.linkCount(of: file) == 2)
    #expect(archive.entries.linkCount(of: archive.find("p")) == 1)
  }

  @Test func extendedNamesAndNumbersAreRead() throws {
    let long = String(repeating: "long/", count: 60) + "name"
    let size: [UInt8] = [0x80] + [UInt8](repeating: 0, count: 10) + [3]
    let archive = try TarArchive(
      TarFixture().pax(("path", long), ("mtime", "-1.25")).adding("x", Self.text("pax"))
        .adding("././@LongLink", type: "L", magic: "ustar  \0", Self.text(long + "2\0"))
        .adding(String(repeating: "long/", count: 20), magic: "ustar  \0", Self.text("gnu"))
        .adding("sum\u{e9}", Self.text("signed"), signed: true).adding("base256", Self.text("256"), size: size)
        .pax(("path", "global"), global: true).adding("x", Self.text("g"))
        .pax(("path", ""), global: true).adding("y", Self.text("y")).ending().bytes)
    #expect(
      Array(archive.lines().suffix(6)) == [
        "\(long) = pax", "\(long)2 = gnu", "sumé = signed", "base256 = 256", "global = g", "y = y",
      ])
    #expect(archive.entries.nodes[Int(archive.find(long))].modified == Timestamp(seconds: -2, nanoseconds: 750_000_000))
  }

  /// A pax time's fraction counts away from zero, the nanoseconds of a `Timestamp` forwards.
  @Test(arguments: [
    ("-1.25", -2, 750_000_000), ("-1", -1, 0), ("-0.000000001", -1, 999_999_999), ("-0.5", -1, 500_000_000),
    ("-86400.000000001", -86401, 999_999_999), ("0.5", 0, 500_000_000), ("1.9999999999", 1, 999_999_999),
    ("-2.0", -2, 0),
  ])
  func negativePaxTimesAreParsed(text: String, seconds: Int64, nanoseconds: Int32) throws {
    let archive = try TarArchive(TarFixture().pax(("mtime", text)).adding("a").ending().bytes)
    #expect(archive.entries.nodes[1].modified == Timestamp(seconds: seconds, nanoseconds: nanoseconds))
  }

  /// A name continues behind a prefix of 155 bytes, of 131 in the archives of star, which has times behind it.
  @Test(arguments: [("", 155), ("tar\0", 131)]) func namePrefixesAreReadCompletely(mark: String, count: Int) throws {
    let field = String("0123456789".flatMap { String(repeating: $0, count: 20) }.prefix(155))
    let archive = try TarArchive(TarFixture().adding("name", Self.text("x"), prefix: field, mark: mark).ending().bytes)
    #expect(archive.lines() == ["\(field.prefix(count))/", "\(field.prefix(count))/name = x"])
  }

  @Test func specialPermissionBitsAreDropped() throws {
    let archive = try TarArchive(
      TarFixture().adding("s", mode: "0007755").adding("d/", type: "5", mode: "0001777").ending().bytes)
    #expect(archive.entries.nodes[Int(archive.find("s"))].permissions == 0o755)
    #expect(archive.entries.nodes[Int(archive.find("d"))].permissions == 0o777)
  }

  /// GNU tar's headers of long names and targets count for the entry that follows, alone.
  @Test(arguments: [100, 101, 511, 512, 4000]) func longLinkTargetsAreReadCompletely(count: Int) throws {
    let target = String(repeating: "t", count: count)
    let archive = try TarArchive(
      TarFixture().adding("././@LongLink", type: "K", magic: "ustar  \0", Self.text(target + "\0"))
        .adding("l", type: "2", link: String(target.prefix(100)), magic: "ustar  \0")
        .adding("m", type: "2", link: "short", magic: "ustar  \0")
        .adding("././@LongLink", type: "L", magic: "ustar  \0", Self.text(target.prefix(200) + "\0"))
        .adding(String(target.prefix(100)), Self.text("file"))
        .adding("././@LongLink", type: "K", magic: "ustar  \0", Self.text(target.prefix(200) + "\0"))
        .adding("h", type: "1", link: String(target.prefix(100)), magic: "ustar  \0").ending().bytes)
    #expect(
      archive.lines() == ["l -> \(target)", "m -> short", "\(target.prefix(200)) = file", "h = file"])
  }

  @Test func lastFileOfANameIsTheCurrentVersion() throws {
    let first = TarFixture().adding("a.txt", Self.text("old")).adding("b", Self.text("b"))
    let archive = try TarArchive(first.ending().adding("a.txt", Self.text("new")).ending().bytes)
    #expect(archive.lines() == ["a (1).txt = old", "b = b", "a.txt = new"])
  }

  @Test func holesOfSparseMembersAreRead() throws {
    let map = Self.text("2\n0\n5\n2000\n3\n")
    let archive = try TarArchive(
      TarFixture()
        .pax(
          ("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"), ("GNU.sparse.name", "s"),
          ("GNU.sparse.realsize", "3000")
        )
        .adding("x", map + [UInt8](repeating: 0, count: 512 - map.count) + Self.text("12345abc"))
        .pax(("GNU.sparse.map", "0,5,2000,3"), ("GNU.sparse.size", "3000")).adding("t", Self.text("12345abc"))
        .pax(("GNU.sparse.map", "0,5,1,3"), ("GNU.sparse.size", "3000")).adding("bad", Self.text("12345abc"))
        .ending().bytes)
    var expected = [UInt8](repeating: 0, count: 3000)
    expected.replaceSubrange(0..<5, with: Self.text("12345"))
    expected.replaceSubrange(2000..<2003, with: Self.text("abc"))
    for name in ["s", "t"] {
      let bytes = try archive.open(archive.find(name), .blocking)
      #expect(try bytes.readThrough() == expected)
      #expect(
        try bytes.next(.hole, from: 0) == 5 && bytes.next(.data, from: 5) == 2000
          && bytes.next(.data, from: 2003) == nil)
    }
    #expect(throws: Fault.self) { try archive.open(archive.find("bad"), .blocking) }
  }

  @Test func readableEntriesOfDamagedTarAreShown() throws {
    let sound = TarFixture().adding("a", Self.text("a")).adding("b", Self.text("b")).adding(
      "c", [UInt8](repeating: 0x63, count: 2000))
    // A header is overwritten.
    var bytes = sound.ending().bytes
    bytes.replaceSubrange(1024..<1536, with: [UInt8](repeating: 0x78, count: 512))
    let damaged = try TarArchive(bytes)
    #expect(damaged.lines().map { $0.prefix(3) } == ["a =", "c ="] && damaged.fault?.offset == 1024)
    // It is cut off within a file's data, and within a header.
    let cut = try TarArchive(Array(sound.bytes.prefix(2048 + 700)))
    #expect(cut.lines() == ["a = a", "b = b", "c ! damaged"] && cut.fault?.reason == "ends within c")
    let shorter = try TarArchive(Array(sound.bytes.prefix(2048 + 100)))
    #expect(shorter.lines() == ["a = a", "b = b"] && shorter.fault?.reason == "ends within a header")
    // After the end, anything.
    let junk = try TarArchive(sound.ending().ending(Self.text(String(repeating: "junk", count: 1000))).bytes)
    #expect(junk.lines().count == 3 && junk.fault == nil)
    #expect(throws: Fault.self) { try TarArchive([UInt8](repeating: 0x78, count: 5000)) }
    #expect(try TarArchive([UInt8](repeating: 0, count: 10240)).lines().isEmpty)
  }

  @Test func extendedAttributesAreReadOnDemand() throws {
    let archive = try TarArchive(
      TarFixture().pax(("SCHILY.xattr.user.note", "hello"), ("SCHILY.xattr.security.x", "no")).adding(
        "a", Self.text("a")
      )
      .adding("b", Self.text("b")).ending().bytes)
    let found = try archive.extendedAttributes(archive.find("a"), .blocking)
    #expect(found.map { $0.name } == ["user.note"] && found.first?.value == Self.text("hello"))
    #expect(try archive.extendedAttributes(archive.find("b"), .immediate).isEmpty)
  }
}
