import TestSupport
import Testing
import Zip

@Suite struct EncodingTests {
  private func name(of entry: ZipFixtureEntry) throws -> String {
    let archive = try ZipArchive(ZipFixture(entry))
    let node = try #require(archive.children(of: ZipArchive.root).first)
    return try #require(String(validating: archive.name(of: node), as: UTF8.self))
  }

  @Test(arguments: [0, 0x800] as [UInt16]) func utf8NeedsNoFlag(flags: UInt16) throws {
    #expect(try name(of: ZipFixtureEntry("Ж日本é.txt", "x").with { $0.flags = flags }) == "Ж日本é.txt")
  }

  @Test func codePage437NamesAreDecoded() throws {
    let upper = (0x80...0xff).map { UInt8($0) }
    // In two halves, because a path component is limited in length.
    let expected =
      "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀"
      + "αßΓπΣσ\u{b5}τΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}"
    #expect(expected.unicodeScalars.count == 128)
    for (byte, scalar) in zip(upper, expected.unicodeScalars) {
      let entry = ZipFixtureEntry([0x61, byte, 0x7a])
      #expect(try ZipArchive(ZipFixture(entry), charset: "CP437").lines() == ["a\(scalar)z = "])
    }
  }

  @Test func flaggedNamesThatAreNotUTF8AreReadAsCodePage437() throws {
    #expect(try name(of: ZipFixtureEntry([0x61, 0x81]).with { $0.flags = 0x800 }) == "aü")
  }

  @Test func unicodePathReplacesTheName() throws {
    let recorded: [UInt8] = [0x61, 0x81]
    let entry = ZipFixtureEntry(recorded).with { $0.centralExtra = ZipExtra.unicodePath("日本/ü", for: recorded) }
    #expect(try ZipArchive(ZipFixture(entry)).lines() == ["日本/", "日本/ü = "])
  }

  @Test func unicodePathOfAnotherNameIsIgnored() throws {
    let entry = ZipFixtureEntry("renamed").with { $0.centralExtra = ZipExtra.unicodePath("old", for: [], crc: 1) }
    #expect(try name(of: entry) == "renamed")
  }

  @Test func equalDecodedNamesAreNumbered() throws {
    let archive = try ZipArchive(ZipFixture(ZipFixtureEntry("ü", "1"), ZipFixtureEntry([0x81], [0x32])))
    #expect(archive.lines() == ["ü = 1", "ü (1) = 2"])
  }
}
