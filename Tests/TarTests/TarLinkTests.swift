import Bytes
import Entries
import Foundation
import Tar
import TestSupport
import Testing
import Threads

/// Hard links of TAR archives: each is the file that extracting the archive in its order would give.
@Suite(.timeLimit(.minutes(5))) struct TarLinkTests {
  /// `name` or `name=content` is a file, `name>target` a hard link, `name@target` a symbolic link.
  private static func archive(_ entries: [String]) throws -> TarArchive {
    var fixture = TarFixture()
    for entry in entries {
      let parts = entry.split(separator: ">", maxSplits: 1).map(String.init)
      let symbolic = entry.split(separator: "@", maxSplits: 1).map(String.init)
      let file = entry.split(separator: "=", maxSplits: 1).map(String.init)
      if parts.count == 2 {
        fixture.append(TarFixture().adding(parts[0], type: "1", link: parts[1]))
      } else if symbolic.count == 2 {
        fixture.append(TarFixture().adding(symbolic[0], type: "2", link: symbolic[1]))
      } else {
        fixture.append(TarFixture().adding(file[0], Array(file[1].utf8)))
      }
    }
    return try TarArchive(fixture.ending().bytes)
  }

  private static let cases: [(entries: [String], lines: [String])] = [
    (["f=x", "f>f"], ["f = x"]),
    (["f=x", "f>f", "f>./f"], ["f = x"]),
    (["d/f=x", "d/g=y", "d/h>d/g", "d/f>d/f", "d/h>d/g"], ["d/", "d/f = x", "d/g = y", "d/h = y"]),
    (["a=x", "b>a", "a>b"], ["a = x", "b = x"]),
    // To a later file.
    (["b>a", "a=x"], ["a = x", "b = x"]),
    (["f>f", "f=x"], ["f = x"]),
    (["c>b", "b>a", "a=x"], ["a = x", "c = x", "b = x"]),
    // To what had the name then.
    (["a=old", "b>a", "a=new"], ["a (1) = old", "b = old", "a = new"]),
    (["a=old", "a=new", "b>a"], ["a (1) = old", "a = new", "b = new"]),
    (["a=x", "b=y", "b>a"], ["a = x", "b (1) = y", "b = x"]),
    // A file that replaces a link.
    (["a=x", "b>a", "b=y"], ["a = x", "b (1) = x", "b = y"]),
    (["b>gone", "b=y"], ["b = y"]),
    // To no file.
    (["f>f"], ["f ! damaged"]),
    (["a>b", "b>a"], ["a ! damaged", "b ! damaged"]),
    (["d/f=x", "a>d"], ["d/", "d/f = x", "a ! damaged"]),
    // To a symbolic link, before it and behind it.
    (["d/f=x", "l@d/f", "m>l", "m>l"], ["d/", "d/f = x", "l -> d/f", "m (1) -> d/f", "m -> d/f"]),
    (["m>l", "l@d", "d/f=x"], ["l -> d", "d/", "d/f = x", "m -> d"]),
    // Through symbolic links.
    (["d/f=x", "l@d", "h>l/f"], ["d/", "d/f = x", "l -> d", "h = x"]),
    (["h>l/f", "l@d", "d/f=x"], ["l -> d", "d/", "d/f = x", "h = x"]),
    (
      ["d/e/f=x", "l@d", "s/m@../l/./e", "h>s/m/f"],
      ["d/", "d/e/", "d/e/f = x", "l -> d", "s/", "s/m -> ../l/./e", "h = x"]
    ),
    (["d/f=x", "l@d/f", "h>l/f"], ["d/", "d/f = x", "l -> d/f", "h ! damaged"]),
    (["a@b", "b@a", "h>a/f"], ["a -> b", "b -> a", "h ! damaged"]),
    (["f=x", "l@/etc", "h>l/f"], ["f = x", "l = /etc", "h ! damaged"]),
    (["f=x", "u@../..", "h>u/f"], ["f = x", "u = ../..", "h ! damaged"]),
    // A folder has the name.
    (["a=x", "b>a", "b/f=y"], ["a = x", "b (1) = x", "b/", "b/f = y"]),
    (["a>a", "a/f=y"], ["a/", "a/f = y", "a (1) ! damaged"]),
  ]

  @Test(arguments: cases) func tarLinksMatchExtraction(entries: [String], lines: [String]) throws {
    let archive = try Self.archive(entries)
    #expect(archive.lines() == lines)
    // The stored list gives the same tree.
    let memory = MemoryShare(in: MemoryBudget())
    let again = try #require(try TarArchive(ByteArraySource([]), memory: memory) { archive.image(part: $0) })
    for index in archive.entries.nodes.indices.map(UInt32.init) {
      #expect(again.entries.name(of: index) == archive.entries.name(of: index))
      #expect(again.entries.primary(of: index) == archive.entries.primary(of: index))
      #expect(again.entries.linkCount(of: index) == archive.entries.linkCount(of: index))
      #expect(again.entries.nodes[Int(index)].kind == archive.entries.nodes[Int(index)].kind)
    }
  }

  /// Whatever bytes a stored list has, its numbers are bounded.
  @Test func changedListIsBounded() throws {
    let entries = ["a=x", "d/b>a", "c@a", "d/long=\(String(repeating: "y", count: 300))"]
    let image = try #require(try Self.archive(entries).image(part: 0))
    let numbers: [[UInt8]] = [
      [0], [1], [0x7f], [0xff, 0x01], Array(repeating: 0xff, count: 9) + [1], Array(repeating: 0xff, count: 4) + [0x0f],
      Array(repeating: 0xff, count: 8) + [0x7f], Array(repeating: 0x80, count: 30), [],
    ]
    for place in image.indices {
      for number in numbers {
        let changed = Array(image[..<place]) + number + Array(image[(place + 1)...])
        let memory = MemoryShare(in: MemoryBudget())
        guard let archive = try? TarArchive(ByteArraySource([]), memory: memory, part: { $0 == 0 ? changed : nil })
        else {
          continue
        }
        for node in archive.entries.nodes {
          #expect((0..<1_000_000_000).contains(node.modified.nanoseconds) && Bounds.holds(node.size), "\(place)")
        }
      }
    }
  }

  @Test func linkCountIsTheNumberOfNames() throws {
    let archive = try Self.archive(["a=x", "b>a", "a>a", "c>b", "b>c"])
    #expect(archive.entries.linkCount(of: archive.find("a")) == 3)
    #expect(archive.entries.primary(of: archive.find("c")) == archive.find("a"))
  }

  /// A link that records the file's data, as `pax -o linkdata` does, is that file where the first name is missing.
  @Test func linkDataReplacesAMissingFile() throws {
    let fixture = TarFixture().adding("b", type: "1", link: "a", Array("data".utf8)).adding("c", Array("c".utf8))
    #expect(try TarArchive(fixture.ending().bytes).lines() == ["c = c", "b = data"])
    let whole = TarFixture().adding("a", Array("data".utf8)).adding("b", type: "1", link: "a", Array("data".utf8))
    let archive = try TarArchive(whole.ending().bytes)
    #expect(archive.lines() == ["a = data", "b = data"] && archive.entries.linkCount(of: archive.find("a")) == 2)
  }

  /// A chain of links to later links takes linear time.
  @Test func longLinkChainsTakeLinearTime() throws {
    let archive = try Self.archive((0..<20_000).map { "\($0)>\($0 + 1)" } + ["20000=x"])
    #expect(archive.entries.linkCount(of: archive.find("0")) == 20_001)
    let circle = try Self.archive((0..<20_000).map { "\($0)>\(($0 + 1) % 20_000)" })
    #expect(throws: Fault.self) { try circle.open(circle.find("7"), .blocking) }
  }

  /// GNU tar records names and targets over 100 bytes in headers of their own, and a file that it is given twice as a
  /// link to itself.
  @Test(arguments: [("gnu", 95), ("pax", 95), ("ustar", 50), ("v7", 10)])
  func gnuTarArchivesMatchExtraction(format: String, length: Int) async throws {
    try await withScratch { scratch in
      let made = try await shell(
        """
        cd "$1/source"; long=\(String(repeating: "x", count: length)); mkdir -p $long/d
        echo file > $long/d/file; ln $long/d/file link; ln -s $long/d/file symbolic; echo two > two
        ln -s ../d/../d/../../$long/d/file $long/d/other
        tar --format=\(format) -cf ../a.tar $long two link symbolic two $long/d/file link || exit 1
        mkdir ../out; tar -xf ../a.tar -C ../out; cd ../out
        find . -type f | LC_ALL=C sort | while read -r f; do echo "$f = $(cat $f)"; done
        find . -type l | LC_ALL=C sort | while read -r f; do echo "$f -> $(readlink $f)"; done
        """, scratch.path)
      try #require(made.status == 0, "\(made.errors)")
      let bytes = try Data(contentsOf: URL(filePath: scratch.path + "/a.tar"))
      let found = try TarArchive(Array(bytes)).lines().filter { !$0.hasSuffix("/") }
        .map { "./" + $0.replacing("\n", with: "") }
      let files = found.filter { $0.contains(" = ") }.sorted()
      let links = found.filter { $0.contains(" -> ") }.sorted()
      #expect((files + links).joined(separator: "\n") + "\n" == made.text)
      #expect(found.count == files.count + links.count && files.count == 3 && links.count == 2)
    }
  }
}
