import Bytes
import Jobs
import RenditionViews
import TestSupport
import Testing
import Tree

/// The names that views give to their items, and those that folders list.
@Suite struct ViewNamesTests {
  /// Pieces have the format of their image if it can be written, and are PNG otherwise.
  @Test func piecesHaveTheFormatOfTheirImage() throws {
    let source = try SourceFolder()
    let heads: [(name: String, head: [UInt8], result: String)] = [
      ("a.jpg", [0xff, 0xd8, 0xff, 0xe0, 0, 16] + Array("JFIF".utf8), "jpg"),
      ("b.png", [0x89] + Array("PNG\r\n\u{1a}\n".utf8), "png"),
      ("c.gif", Array("GIF89a".utf8), "gif"), ("d.psd", Array("8BPS\0\u{1}".utf8), "png"),
    ]
    for file in heads { try source.write(FileName(file.name), file.head + [UInt8](repeating: 0, count: 100)) }
    let conversions = Conversions(
      ConversionPool.Options(program: "/nonexistent"), cache: nil, index: nil, spools: "/tmp")
    let tree = try TreeInProcess(source, conversions: conversions)
    defer { tree.tree.stop() }
    for file in heads {
      let names = try tree.list(FileName(file.name + ".1x2.tiles")).map(\.text)
      #expect(names == ["1-1.\(file.result)", "2-1.\(file.result)"])
    }
  }

  /// Folders of mail list their views if mailboxes do.
  @Test func viewsOfMailFoldersAreListedWithThoseOfMailboxes() throws {
    let source = try SourceFolder()
    let mail = "From a@b.c Wed May  1 10:00:00 2024\nFrom: a@b.c\nSubject: s\n\nbody\n"
    for name in ["Maildir", "Maildir/cur", "Maildir/new", "Maildir/tmp", "tree.sbd"] as [FileName] {
      try source.makeFolder(name)
    }
    for name in ["in.mbox", "tree.sbd/in", "Maildir/cur/1.x.h"] as [FileName] { try source.write(name, mail) }
    let views: [FileName] = ["in.mbox.views", "Maildir.views", "tree.sbd.views"]
    for isListed in [true, false] {
      let tree = try TreeInProcess(source, options: .init(removed: isListed ? [] : ["mbox"]))
      defer { tree.tree.stop() }
      #expect(Set(try tree.list("")).intersection(views) == (isListed ? Set(views) : []))
      // They are there by name.
      for view in views { #expect(try tree.stat(view).kind == .folder) }
    }
  }
}
