import Bytes
import TestSupport
import Testing
import Zip

/// An archive and its expected tree.
struct TreeShape: CustomTestStringConvertible, Sendable {
  let testDescription: String
  let archive: ZipFixture
  let lines: [String]

  init(_ description: String, _ archive: ZipFixture, _ lines: [String]) {
    testDescription = description
    self.archive = archive
    self.lines = lines
  }

  init(_ description: String, names: [String], _ lines: [String]) {
    self.init(description, ZipFixture(names.map { ZipFixtureEntry($0, $0.hasSuffix("/") ? "" : "x") }), lines)
  }
}

@Suite struct TreeShapeTests {
  @Test(arguments: names + hostile + collisions + links) func treeMatchesTheCentralDirectory(_ shape: TreeShape) throws
  {
    let archive = try ZipArchive(shape.archive)
    #expect(archive.lines() == shape.lines)
    #expect(archive.fault == nil)
  }

  @Test(arguments: names + hostile + collisions + links) func everyListedNameIsFound(_ shape: TreeShape) throws {
    let archive = try ZipArchive(shape.archive)
    for folder in 0..<UInt32(archive.count) {
      for child in archive.children(of: folder) {
        #expect(archive.child(of: folder, named: .init(archive.name(of: child))) == child)
        #expect(archive.parent(of: child) == folder)
      }
    }
  }

  static let names: [TreeShape] = [
    TreeShape("an empty archive is an empty folder", ZipFixture(), []),
    TreeShape("order is the archive's", names: ["b", "a", "c"], ["b = x", "a = x", "c = x"]),
    TreeShape("folders are implied", names: ["a/b/c"], ["a/", "a/b/", "a/b/c = x"]),
    TreeShape("empty folders stay", names: ["a/", "b/c/"], ["a/", "b/", "b/c/"]),
    TreeShape("a folder named twice is one", names: ["a/", "a/x", "a/"], ["a/", "a/x = x"]),
    TreeShape("a folder by mode needs no slash", ZipFixture(ZipFixtureEntry("a").unix(mode: 0o040755)), ["a/"]),
    TreeShape(
      "case and composition tell names apart", names: ["a", "A", "\u{e9}", "e\u{301}"],
      ["a = x", "A = x", "\u{e9} = x", "e\u{301} = x"]),
    TreeShape("backslashes stay beside a slash", names: ["a\\b", "c/d"], ["a\\b = x", "c/", "c/d = x"]),
    TreeShape(
      "backslashes of Unix stay",
      ZipFixture(
        ZipFixtureEntry("a\\b", "x").unix(mode: 0o100644), ZipFixtureEntry("C:\\x", "x").unix(mode: 0o100644)),
      ["a\\b = x", "C:\\x = x"]),
    TreeShape(
      "backslashes part folders where all names are of Windows and none has a slash",
      names: ["top", "a\\b", "a\\c\\d", "e\\"], ["top = x", "a/", "a/b = x", "a/c/", "a/c/d = x", "e/"]),
    TreeShape(
      "dots inside names stay", names: ["...", "..a", "a..", ".a"],
      ["... = x", "..a = x", "a.. = x", ".a = x"]),
    TreeShape("deflated entries are inflated", ZipFixture(ZipFixtureEntry("a", "hello").deflated()), ["a = hello"]),
    TreeShape(
      "sizes behind the data are not needed",
      ZipFixture(
        ZipFixtureEntry("a", "one").deflated().with { $0.hasDataDescriptor = true },
        ZipFixtureEntry("b", "two").deflated().with {
          $0.hasDataDescriptor = true
          $0.hasDescriptorSignature = false
        }, ZipFixtureEntry("c", "three").with { $0.hasDataDescriptor = true }), ["a = one", "b = two", "c = three"]),
    TreeShape(
      "the central directory is right where the local header differs",
      ZipFixture(ZipFixtureEntry("right", "x").with { $0.localName = Array("something else".utf8) }), ["right = x"]),
    TreeShape(
      "local extra fields are skipped",
      ZipFixture(
        ZipFixtureEntry("a", "x").with { $0.localExtra = ZipExtra.field(0xcafe, Array(repeating: 7, count: 99)) }),
      ["a = x"]),
    TreeShape(
      "local names and extra fields may be longer than the central ones",
      ZipFixture(
        ZipFixtureEntry("a", "x").deflated().with {
          $0.localName = Array(repeating: 0x6e, count: 3000)
          $0.localExtra = ZipExtra.field(0xcafe, Array(repeating: 7, count: 60_000))
        }, ZipFixtureEntry("b", "y").deflated()), ["a = x", "b = y"]),
    TreeShape(
      "the local header is right where only it leads to the recorded checksum",
      ZipFixture(
        ZipFixtureEntry("a", "content").deflated().with { $0.claimedCompressedSize = 5 },
        ZipFixtureEntry("b", "content").deflated().with { $0.claimedCompressedSize = 0 },
        ZipFixtureEntry("c", "content").with { $0.claimedCompressedSize = 3 },
        ZipFixtureEntry("d", "content").with { $0.localSignature = 0 },
        ZipFixtureEntry("e", "content").deflated().with { $0.localSignature = 0 }),
      ["a = content", "b = content", "c = content", "d = content", "e = content"]),
    TreeShape(
      "an empty file may be deflated to something or to nothing",
      ZipFixture(ZipFixtureEntry("a", "").deflated(), ZipFixtureEntry("b", "").deflated(as: [])), ["a = ", "b = "]),
    TreeShape(
      "comments of entries are skipped",
      ZipFixture(
        ZipFixtureEntry("a", "x").with { $0.comment = Array("PK\u{1}\u{2} a comment".utf8) }, ZipFixtureEntry("b", "y")),
      ["a = x", "b = y"]),
  ]

  static let hostile: [TreeShape] = [
    TreeShape("leading slashes are stripped", names: ["/a", "//b", "/c/d"], ["a = x", "b = x", "c/", "c/d = x"]),
    TreeShape(
      "leading ./ and ../ are stripped", names: ["../../a", "./b", "/../c", "./../d/e"],
      ["a = x", "b = x", "c = x", "d/", "d/e = x"]),
    TreeShape(
      "inner dots become a question mark", names: ["a/../b", "c/./d"],
      ["a/", "a/?/", "a/?/b = x", "c/", "c/?/", "c/?/d = x"]),
    TreeShape("an empty inner component becomes a question mark", names: ["a//b"], ["a/", "a/?/", "a/?/b = x"]),
    TreeShape("a name of dots alone becomes a question mark", names: ["..", "a/.."], ["? = x", "a/", "a/? = x"]),
    TreeShape("a file without a name is a question mark", names: [""], ["? = x"]),
    TreeShape("an entry for the root adds nothing", names: ["/", "./", "../", "a"], ["a = x"]),
    TreeShape(
      "the last of the control characters alone becomes one", names: ["\u{7f}", "a\u{7f}.txt"],
      ["? = x", "a?.txt = x"]),
    TreeShape(
      "control characters become question marks", names: ["a\u{0}b", "c\u{1f}\n\u{7f}d"],
      ["a?b = x", "c???d = x"]),
    TreeShape(
      "a long component is cut", names: [String(repeating: "n", count: 300)],
      [String(repeating: "n", count: 255) + " = x"]),
    TreeShape(
      "a long component is cut where a character ends", names: [String(repeating: "é", count: 128)],
      [String(repeating: "é", count: 127) + " = x"]),
    TreeShape(
      "a component of 255 bytes stays", names: [String(repeating: "n", count: 255)],
      [String(repeating: "n", count: 255) + " = x"]),
    TreeShape(
      "a path over PATH_MAX goes under Too Deep",
      names: [String(repeating: "abcdefg/", count: 600) + "leaf", "a"], ["Too Deep/", "Too Deep/leaf = x", "a = x"]),
    TreeShape(
      "a folder over PATH_MAX goes under Too Deep",
      names: [String(repeating: "abcdefg/", count: 600) + "leaf/"], ["Too Deep/", "Too Deep/leaf/"]),
  ]

  static let collisions: [TreeShape] = [
    TreeShape(
      "files of one name are numbered", names: ["pet", "pet", "pet"], ["pet = x", "pet (1) = x", "pet (2) = x"]),
    TreeShape(
      "the number comes before the extension", names: ["a.txt", "a.txt", "b.tar.gz", "b.tar.gz"],
      ["a.txt = x", "a (1).txt = x", "b.tar.gz = x", "b (1).tar.gz = x"]),
    TreeShape(
      "an extension has at most 64 bytes, its dot included",
      names: [63, 63, 64, 64].map { "a." + String(repeating: "n", count: $0) },
      [
        "a." + String(repeating: "n", count: 63) + " = x", "a (1)." + String(repeating: "n", count: 63) + " = x",
        "a." + String(repeating: "n", count: 64) + " = x", "a." + String(repeating: "n", count: 64) + " (1) = x",
      ]),
    TreeShape("a leading dot is no extension", names: [".bashrc", ".bashrc"], [".bashrc = x", ".bashrc (1) = x"]),
    TreeShape("a folder keeps its name", names: ["pet", "pet/cat"], ["pet (1) = x", "pet/", "pet/cat = x"]),
    TreeShape(
      "a folder keeps its name in any order", names: ["pet/cat", "pet"], ["pet/", "pet/cat = x", "pet (1) = x"]),
    TreeShape(
      "names that are really there are not taken", names: ["pet", "pet", "pet (1)"],
      ["pet = x", "pet (2) = x", "pet (1) = x"]),
    TreeShape(
      "numbers count in each folder", names: ["a/x", "b/x", "a/x", "b/x"],
      ["a/", "a/x = x", "a/x (1) = x", "b/", "b/x = x", "b/x (1) = x"]),
    TreeShape("names that become alike are numbered", names: ["a", "/a", "./a"], ["a = x", "a (1) = x", "a (2) = x"]),
    TreeShape(
      "a numbered long name still fits",
      names: [String(repeating: "n", count: 255), String(repeating: "n", count: 256)],
      [String(repeating: "n", count: 255) + " = x", String(repeating: "n", count: 251) + " (1) = x"]),
    TreeShape(
      "question marks are numbered too", names: ["a/../b", "a/./b"], ["a/", "a/?/", "a/?/b = x", "a/?/b (1) = x"]),
    TreeShape(
      "a link and a file of one name both stay",
      ZipFixture(ZipFixtureEntry("a", "x"), .link("a", to: "b")), ["a = x", "a (1) -> b"]),
  ]

  static let links: [TreeShape] = [
    TreeShape(
      "a link inside is a link",
      ZipFixture(.link("a", to: "b"), .link("d/e/up", to: "../../a"), .link("d/dot", to: "./e/../e")),
      ["a -> b", "d/", "d/e/", "d/e/up -> ../../a", "d/dot -> ./e/../e"]),
    TreeShape("a link whose target is missing is a link", ZipFixture(.link("a", to: "gone")), ["a -> gone"]),
    TreeShape(
      "a deflated link is a link",
      ZipFixture(ZipFixtureEntry("a", "b").unix(mode: 0o120777).deflated()), ["a -> b"]),
    TreeShape("an absolute link is a file", ZipFixture(.link("a", to: "/etc/passwd")), ["a = /etc/passwd"]),
    TreeShape(
      "a link that climbs out is a file",
      ZipFixture(.link("a", to: "../x"), .link("d/b", to: "../../x"), .link("d/c", to: "e/../../../d/x")),
      ["a = ../x", "d/", "d/b = ../../x", "d/c = e/../../../d/x"]),
    TreeShape(
      "a link that climbs out by way of another link is a file",
      ZipFixture(.link("up", to: "."), .link("x", to: "up/../secret"), .link("y", to: "up/up/../../secret")),
      ["up -> .", "x = up/../secret", "y = up/up/../../secret"]),
    TreeShape("an empty link is a file", ZipFixture(.link("a", to: "")), ["a = "]),
    TreeShape("a link with a NUL in it is a file", ZipFixture(.link("a", to: "b\0c")), ["a = b\0c"]),
    TreeShape(
      "a link longer than a path is a file",
      ZipFixture(.link("a", to: String(repeating: "n/", count: 2100))), ["a = " + String(repeating: "n/", count: 2100)]),
    TreeShape(
      "a link from a host without links is a link",
      ZipFixture(ZipFixtureEntry("a", "b").with { $0.externalAttributes = 0o120777 << 16 }), ["a -> b"]),
    TreeShape(
      "an encrypted link is a locked file",
      ZipFixture(ZipFixtureEntry.link("a", to: "b").with { $0.flags = 1 }), ["a ! locked"]),
  ]
}
