import Entries
import TestSupport
import Testing
import Zip

@Suite struct LinkTests {
  /// PKWARE's Unix extra field.
  private func unix(_ target: String) -> [UInt8] {
    ZipExtra.field(0x000d, [UInt8](repeating: 0, count: 12) + Array(target.utf8))
  }

  private func link(_ name: String, to target: String, mode: UInt32) -> ZipFixtureEntry {
    ZipFixtureEntry(name).unix(mode: mode).with { $0.centralExtra = unix(target) }
  }

  @Test func pkwareSymlinksUseTheFieldTarget() throws {
    let archive = try ZipArchive(
      ZipFixture(
        link("a", to: "d/b", mode: 0o120777), ZipFixtureEntry("d/b", "x"), link("out", to: "../x", mode: 0o120777)))
    #expect(archive.lines() == ["a -> d/b", "d/", "d/b = x", "out = ../x"])
    #expect(archive.node(1).size == 3)
  }

  /// PKWARE's own programs record MS-DOS as the host, a mode, and the field.
  @Test func pkwareFieldImpliesUnixMode() throws {
    func entry(_ name: String, _ content: String, _ target: String, mode: UInt32) -> ZipFixtureEntry {
      ZipFixtureEntry(name, content).with {
        ($0.externalAttributes, $0.centralExtra) = (mode << 16, unix(target))
      }
    }
    let archive = try ZipArchive(
      ZipFixture(
        entry("regular", "x", "", mode: 0o100640), entry("symbolic", "", "regular", mode: 0o120777),
        entry("hard", "", "regular", mode: 0o100640), entry("block", "", "\u{8}\0\0\0\u{1}\0\0\0", mode: 0o060660),
        entry("fifo", "", "", mode: 0o010600), entry("folder", "", "", mode: 0o040750),
        ZipFixtureEntry("none", "y").with { $0.centralExtra = unix("") }))
    #expect(
      archive.lines() == [
        "regular = x", "symbolic -> regular", "hard = x", "block = ", "fifo = ", "folder/", "none = y",
      ])
    let modes = try ["regular", "hard", "folder", "none"].map {
      archive.node(try #require(archive.find($0))).permissions
    }
    #expect(modes == [0o640, 0o640, 0o750, 0o644])
  }

  @Test func pkwareHardLinksReadTheLinkedFile() throws {
    let archive = try ZipArchive(
      ZipFixture(
        ZipFixtureEntry("d/b", "content").deflated().unix(mode: 0o100644), link("d/c", to: "d/b", mode: 0o100644),
        link("near", to: "d/c", mode: 0o100644), link("gone", to: "nowhere", mode: 0o100644)))
    #expect(archive.lines() == ["d/", "d/b = content", "d/c = content", "near = content", "gone ! damaged"])
  }

  @Test func cyclicHardLinksAreDamaged() throws {
    let archive = try ZipArchive(
      ZipFixture(
        link("a", to: "b", mode: 0o100644), link("b", to: "a", mode: 0o100644), link("c", to: "c", mode: 0o100644)))
    #expect(archive.lines() == ["a ! damaged", "b ! damaged", "c ! damaged"])
  }

  @Test func fileWithPKWAREFieldAndDataIsRegular() throws {
    let entry = ZipFixtureEntry("a", "x").unix(mode: 0o100644).with { $0.centralExtra = unix("b") }
    #expect(try ZipArchive(ZipFixture(entry)).lines() == ["a = x"])
  }

  @Test func symlinksFromOtherHostsAreRecognized() throws {
    for host: ZipFixtureEntry.Host in [.dos, .ntfs, .macOS] {
      let entry = ZipFixtureEntry("a", "b").with {
        $0.host = host
        $0.externalAttributes = 0o120777 << 16
      }
      #expect(try ZipArchive(ZipFixture(entry)).lines() == ["a -> b"])
    }
  }

  @Test func allSymlinksAreShownOnRequest() throws {
    var options = ZipOptions()
    options.showsAllLinks = true
    let fixture = ZipFixture(
      .link("a", to: "/etc/passwd"), .link("b", to: "../x"), .link("c", to: ""), .link("d", to: "x\0y"),
      link("e", to: "../y", mode: 0o120777))
    #expect(
      try ZipArchive(fixture, options).lines() == ["a -> /etc/passwd", "b -> ../x", "c = ", "d = x\0y", "e -> ../y"])
  }
}
