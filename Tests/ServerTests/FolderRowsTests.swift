import AllViews
import Bytes
import Files
import Glibc
import NIOCore
import Testing
import Threads
import Tree

@testable import ffserve

/// The rows of a folder some of whose entries cannot be read, as on a failing disk.
@Suite struct FolderRowsTests {
  private final class Thing: Item {
    let inode: UInt64
    let kind: Kind
    let names: [FileName]
    let isImmutable = true

    init(_ kind: Kind, _ inode: UInt64, _ names: [FileName] = []) {
      (self.kind, self.inode, self.names) = (kind, inode, names)
    }

    func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
      let time = Timestamp(seconds: 1)
      return Attributes(
        inode: inode, kind: kind, permissions: 0o755, links: 1, owner: 0, group: 0, size: 1, allocated: 0,
        accessed: time, modified: time, changed: time)
    }
    func accessList() throws(Fault) -> AccessList? { nil }

    /// Names with a `!` cannot be looked up, and those with a `?` seem to have changed each time.
    func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
      guard let index = names.firstIndex(of: name) else { return nil }
      if name.text.contains("!") { throw Fault(.system(EIO)) }
      if name.text.contains("?") { throw .stale }
      let thing = Thing(.socket, UInt64(index) + 2)
      return LookupResult(thing, try thing.attributes(blocking))
    }

    func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor { Cursor(names) }
  }

  private final class Cursor: DirectoryCursor {
    let names: [FileName]

    init(_ names: [FileName]) { self.names = names }

    func entries(after place: Int64, _ blocking: BlockingMode) throws(Fault) -> [ListedEntry] {
      names.enumerated().dropFirst(Int(place)).map { index, name in
        ListedEntry(name: ListedName(name), inode: UInt64(index) + 2, kind: .socket, next: Int64(index) + 1)
      }
    }
  }

  private func names(_ names: [FileName]) throws(Fault) -> [String] {
    let tree = Tree(
      root: Thing(.folder, 1, names),
      views: Views(listing: ViewListing(), depth: 4, conversions: nil, memory: MemoryBudget()))
    var found: [String] = []
    try FolderRows(ResolvedPath.find([], in: tree, .blocking), nil).each { (row, result) throws(Fault) in
      found.append(row.name.text + ((try? result.get()) == nil ? ": failed" : ""))
    }
    return found
  }

  @Test func unreadableEntriesAreListedWithTheirFaults() throws {
    #expect(try names(["a", "b"]) == ["a", "b"] && names([]) == [])
    #expect(try names(["!", "a", "b!", "c"]) == ["!: failed", "a", "b!: failed", "c"])
    #expect(try names(["a!"]) == ["a!: failed"])
    #expect(try names(["?", "a", "b?"]) == ["?: failed", "a", "b?: failed"])
  }

  @Test func listSaysWhichEntriesAreUnreadable() throws {
    var text = ListText(of: TreePath(names: []), at: "/", .read)
    text.add(.init(listed: ListedName("b.zip"), kind: .file, view: nil), nil, error: "it is \"bad\"")
    text.add(.init(listed: ListedName("a"), kind: .folder, view: nil), nil, error: "bad")
    let list = String(buffer: text.finished())
    #expect(
      list.contains(
        """
        {"name":"b.zip","type":"file","size":null,"modified":null,"extension":"zip","absolutePath":"/b.zip",\
        "error":"it is \\"bad\\""}
        """), "\(list)")
    #expect(list.contains(#"{"name":"a","type":"directory","size":null,"modified":null,"extension":null"#), "\(list)")
  }
}
