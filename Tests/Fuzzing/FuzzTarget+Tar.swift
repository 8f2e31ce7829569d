internal import Bytes
internal import Codecs
internal import Entries
internal import Tar
internal import TestSupport
internal import Threads

extension FuzzTarget {
  /// TAR archives: the tree, names, links, every entry's bytes, attributes, and the list in the index.
  public static let tar = FuzzTarget(name: "tar") {
    TarSeeds.all
  } complaints: { bytes in
    var reading = TarReading()
    reading.read(bytes)
    return reading.complaints
  }
}

private enum TarSeeds {
  static var all: [[UInt8]] {
    let text = Array(String(repeating: "The quick brown fox. ", count: 40).utf8)
    let map = Array("2\n0\n5\n2000\n3\n".utf8)
    return [
      TarFixture().adding("d/", type: "5").adding("d/a", text).adding("d/b", type: "1", link: "d/a")
        .adding("l", type: "2", link: "d/a").adding("out", type: "2", link: "../x").adding("dev", type: "3")
        .adding("pipe", type: "6").adding("d/a", Array("newer".utf8)).ending().bytes,
      TarFixture().pax(("path", String(repeating: "long/", count: 60)), ("mtime", "1700000000.25")).adding("x", text)
        .pax(("SCHILY.xattr.user.note", "hello"), ("size", "7")).adding("y", Array("content".utf8))
        .pax(("comment", "all"), global: true).adding(
          "././@LongLink", type: "L", magic: "ustar  \0", Array("longer\0".utf8)
        )
        .adding("z", Array("z".utf8)).ending().adding("again", text).ending().bytes,
      TarFixture().pax(
        ("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"), ("GNU.sparse.name", "s"), ("GNU.sparse.realsize", "3000")
      )
      .adding("s", map + [UInt8](repeating: 0, count: 512 - map.count) + Array("12345abc".utf8))
      .pax(("GNU.sparse.map", "0,5,2000,3"), ("GNU.sparse.size", "3000")).adding("t", Array("12345abc".utf8)).ending()
      .bytes,
      TarFixture().adding("old", magic: "", text).adding("folder/", type: "\0", magic: "").ending().bytes,
    ]
  }
}

/// Reads everything in an archive, within a budget, and records violated invariants.
struct TarReading {
  private(set) var complaints: [String] = []
  private var bytesLeft = 8 << 20

  private mutating func check(_ isSo: Bool, _ complaint: @autoclosure () -> String) {
    if !isSo, complaints.count < 20 { complaints.append(complaint()) }
  }

  mutating func read(_ bytes: [UInt8]) {
    let source = ByteArraySource(bytes)
    guard let archive = try? TarArchive(source, modified: Timestamp(seconds: 1), showingAllLinks: bytes.count % 4 == 1)
    else { return }
    let entries = archive.entries
    // Each header takes a block and each folder a byte of a path; the root takes nothing.
    check(entries.nodes.count - 1 <= bytes.count, "\(entries.nodes.count) nodes in \(bytes.count) bytes")
    var seen = 1
    var folders = [EntryTree.root]
    while let folder = folders.popLast() {
      var names: Set<[UInt8]> = []
      for child in entries.children(of: folder) {
        seen += 1
        let name = Array(entries.name(of: child))
        check(
          !name.isEmpty && name.count <= 255 && !name.contains(0x2f) && !name.contains(0) && name != [0x2e]
            && name != [0x2e, 0x2e], "node \(child) has the name \(name)")
        check(names.insert(name).inserted, "two nodes of a folder have the name \(name)")
        check(entries.child(of: folder, named: name[...]) == child, "node \(child) is not found by its name")
        let primary = entries.primary(of: child)
        check(entries.primary(of: primary) == primary, "node \(child) is another name of another name")
        if entries.nodes[Int(child)].kind == .folder { folders.append(child) } else { open(archive, child) }
      }
    }
    check(seen == entries.nodes.count, "\(seen) nodes are reached of \(entries.nodes.count)")
    restore(archive, source)
  }

  private mutating func open(_ archive: TarArchive, _ node: UInt32) {
    _ = try? archive.extendedAttributes(node, .blocking)
    guard bytesLeft > 0, let source = try? archive.open(node, .blocking) else { return }
    let size = archive.entries.nodes[Int(node)].size
    check(source.size == size, "node \(node) has two sizes")
    for (offset, count) in [(size / 2, 5000), (size - 1, 10), (size, 10), (.max, 10), (-1, 10), (0, 70_000)] {
      _ = try? source.next(.data, from: offset)
      _ = try? source.next(.hole, from: offset)
      guard let got = try? source.partialBytes(at: offset, count: count) else { continue }
      bytesLeft -= got.count
      let expected = offset < 0 ? 0 : max(0, min(Int64(count), size - offset))
      check(Int64(got.count) == expected, "node \(node) gives \(got.count) bytes of \(expected) at \(offset)")
    }
  }

  /// What is stored in the index yields the same tree.
  private mutating func restore(_ archive: TarArchive, _ source: any ByteSource) {
    let budget = MemoryShare(in: MemoryBudget())
    guard let again = try? TarArchive(source, memory: budget, part: { archive.image(part: $0) }) else {
      return check(false, "the list cannot be read back")
    }
    let (one, other) = (archive.entries, again.entries)
    check(one.nodes.count == other.nodes.count, "the list has another number of nodes")
    for index in one.nodes.indices where index < other.nodes.count {
      let (node, same) = (one.nodes[index], other.nodes[index])
      check(
        node.kind == same.kind && node.size == same.size && node.modified == same.modified
          && node.permissions == same.permissions && node.parent == same.parent
          && one.name(of: UInt32(index)) == other.name(of: UInt32(index))
          && one.linkCount(of: UInt32(index)) == other.linkCount(of: UInt32(index)),
        "node \(index) is another one in the list")
    }
    check(archive.fault?.reason == again.fault?.reason, "the list has another fault")
  }
}
