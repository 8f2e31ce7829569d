internal import Bytes
internal import Codecs
internal import TestSupport
internal import Zip

extension FuzzTarget {
  /// Archives: the tree, names, links, passwords, every entry's bytes, and nested archives.
  public static let zip = FuzzTarget(name: "zip") {
    ZipSeeds.all
  } complaints: { bytes in
    var reading = ZipReading()
    reading.read(ByteArraySource(bytes), inputSize: bytes.count, depth: 0)
    return reading.complaints
  }
}

/// Archives of a few hundred bytes that together contain most features of archives.
private enum ZipSeeds {
  private static let text = Array(String(repeating: "The quick brown fox. ", count: 40).utf8)

  static var all: [[UInt8]] {
    [
      ZipFixture(
        ZipFixtureEntry("a/b.txt", text), ZipFixtureEntry("a/b.txt", text).deflated(), ZipFixtureEntry("empty/"),
        .link("l", to: "a/b.txt"), .link("up", to: "../x"), ZipFixtureEntry("nothing")
      ).bytes(),
      ZipFixture(
        ZipFixtureEntry("zeros", [UInt8](repeating: 0, count: 3000)).deflated(as: ZipDeflate.zeros(3000)),
        ZipFixtureEntry("d", text).deflated().with {
          $0.hasDataDescriptor = true
          $0.centralExtra =
            ZipExtra.extendedTimestamp(modified: 5) + ZipExtra.ntfs(modified: 77)
            + ZipExtra.unicodePath("ü", for: [0x64])
        }
      ).bytes(),
      large.bytes(),
      // Larger than what is decoded at open.
      ZipFixture(
        ZipFixtureEntry("long", [UInt8](repeating: 0, count: 1_300_000)).deflated(as: ZipDeflate.zeros(1_300_000)),
        ZipFixtureEntry("inner.zip", ZipFixture(ZipFixtureEntry("x", text)).bytes()).deflated()
      ).bytes(),
      links.bytes(),
    ]
  }

  private static var large: ZipFixture {
    var fixture = ZipFixture(
      ZipFixtureEntry("big", text).deflated().with { $0.isZip64 = true },
      ZipFixtureEntry("big", text).with { $0.isZip64 = true })
    fixture.endsInZip64 = true
    fixture.prefix = Array("#!/bin/sh\n".utf8)
    fixture.comment = Array("PK\u{5}\u{6} comment".utf8)
    return fixture
  }

  /// PKWARE's links, and names in other charsets.
  private static var links: ZipFixture {
    func link(_ name: String, to target: String, mode: UInt32) -> ZipFixtureEntry {
      ZipFixtureEntry(name).unix(mode: mode).with {
        $0.centralExtra = ZipExtra.field(0x000d, [UInt8](repeating: 0, count: 12) + Array(target.utf8))
      }
    }
    return ZipFixture(
      ZipFixtureEntry("d/b", "content").deflated().unix(mode: 0o100644), link("d/c", to: "d/b", mode: 0o100644),
      link("s", to: "d/../d/b", mode: 0o120777), link("a", to: "a", mode: 0o100644),
      ZipFixtureEntry([0x8e, 0x91, 0x2f, 0xe1, 0xa0, 0xe5], Array("x".utf8)),
      ZipFixtureEntry([0x93, 0xfa, 0x96, 0x7b], Array("y".utf8)), ZipFixtureEntry("../../etc//passwd", "z"))
  }
}
