import FileTrees
import Foundation
import SystemPackage
import Testing

@Suite(.timeLimit(.minutes(5)))
struct ReadingTests {
  @Test func entriesHaveViewsAndAttributes() async throws {
    let sample = try Sample("letters.zip", "readme.txt", "club.mbox")
    let entries = try await sample.tree.entries().all()
    #expect(Set(entries.filter { !$0.isView }.map(\.name)) == ["letters.zip", "readme.txt", "club.mbox"])
    let contents = try #require(entries.first { $0.view == "contents" })
    #expect(contents.name == "letters.zip.contents")
    #expect(contents.kind == .directory)
    let readme = try #require(entries.first { $0.name == "readme.txt" })
    #expect(readme.size == Int64(try sample.bytes(of: "readme.txt").count))
    #expect(readme.isSizeExact)
    #expect(readme.path == "readme.txt")
    for entry in entries {
      let attributes = try await sample.tree.attributes(of: entry.path)
      #expect(attributes.kind == entry.kind)
      #expect(attributes.view == entry.view)
      #expect(attributes.modified == entry.modified)
    }
  }

  @Test func attributesMatchTheFileSystem() async throws {
    let sample = try Sample("readme.txt", "letters.zip")
    let given = try FileManager.default.attributesOfItem(atPath: sample.path("readme.txt"))
    let attributes = try await sample.tree.attributes(of: "/readme.txt")
    #expect(attributes.size == given[.size] as? Int64)
    #expect(attributes.permissions.rawValue == given[.posixPermissions] as? UInt32)
    #expect(attributes.modified.seconds == Int64((given[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0))
    #expect(attributes.view == nil && attributes.source == nil && attributes.error == nil)
    #expect(attributes.created.map { $0 <= attributes.modified } ?? true)
    let view = try await sample.tree.attributes(of: "letters.zip.contents")
    #expect(view.isView && view.source == "letters.zip" && view.created == nil)
  }

  @Test func archiveMembersHaveTheirOriginalContent() async throws {
    let sample = try Sample()
    try sample.make(
      by: """
        import zipfile
        with zipfile.ZipFile('a.zip', 'w', zipfile.ZIP_DEFLATED) as z:
          z.writestr('deep/grün.txt', 'Grüße\\n' * 100000)
          z.writestr('empty', '')
        """)
    let expected = Array(String(repeating: "Grüße\n", count: 100_000).utf8)
    let path: FilePath = "a.zip.contents/deep/grün.txt"
    #expect(try await sample.tree.read(path) == expected)
    #expect(try await sample.tree.text(path) == String(decoding: expected, as: UTF8.self))
    #expect(try await sample.tree.chunks(of: path, size: 1000).all().flatMap { $0 } == expected)
    let part = try await sample.tree.chunks(of: path, range: 399_990..<400_010, size: 7).all()
    #expect(part.map(\.count) == [7, 7, 6])
    #expect(part.flatMap { $0 } == Array(expected[399_990..<400_010]))
    #expect(try await sample.tree.bytes(of: path, range: 799_990..<900_000).all() == Array(expected[799_990...]))
    #expect(try await sample.tree.read("a.zip.contents/empty") == [])
    #expect(try await sample.tree.chunks(of: "a.zip.contents/empty").all().isEmpty)
  }

  @Test func byteSequenceIsReadInsideActor() async throws {
    let sample = try Sample()
    let expected = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    try sample.write(expected, to: "data")
    let sum = try await Counter().sum(sample.tree.bytes(of: "data"))
    #expect(sum == expected.reduce(0) { $0 + Int($1) })
  }

  private actor Counter {
    private var sum = 0

    func sum(_ bytes: TreeBytes) async throws -> Int {
      for try await byte in bytes { sum += Int(byte) }
      return sum
    }
  }

  @Test(
    arguments: [
      (TreeText(.utf8, "ä€\n"), [0xef, 0xbb, 0xbf, 0xc3, 0xa4, 0xe2, 0x82, 0xac, 0x0a]),
      (TreeText(.utf16, "ä€"), [0xe4, 0, 0xac, 0x20]), (TreeText(.utf16, "ä€"), [0xfe, 0xff, 0, 0xe4, 0x20, 0xac]),
      (TreeText(.ascii, "a"), [0x61]), (TreeText(.latin1, "aä"), [0x61, 0xe4]),
      (TreeText(.detected, "ä€"), [0xff, 0xfe, 0xe4, 0, 0xac, 0x20]), (TreeText(.detected, "ä"), [0xc3, 0xa4]),
    ] as [(TreeText, [UInt8])])
  func textIsDecoded(expected: TreeText, bytes: [UInt8]) async throws {
    let sample = try Sample()
    try sample.write(bytes, to: "text")
    #expect(try await sample.tree.text("text", encoding: expected.encoding) == expected.text)
  }

  struct TreeText: Sendable {
    let encoding: FileTree.TextEncoding
    let text: String

    init(_ encoding: FileTree.TextEncoding, _ text: String) { (self.encoding, self.text) = (encoding, text) }
  }

  @Test(
    arguments: [
      (.utf8, [0xff, 0x41]), (.ascii, [0x41, 0x80]), (.utf16, [0x41]), (.utf16, [0x00, 0xd8]),
    ] as [(FileTree.TextEncoding, [UInt8])])
  func textOfAnotherEncodingIsRefused(encoding: FileTree.TextEncoding, bytes: [UInt8]) async throws {
    let sample = try Sample()
    try sample.write(bytes, to: "text")
    await expectError(.damaged, "text") { () throws(FileTreeError) in
      _ = try await sample.tree.text("text", encoding: encoding)
    }
  }

  @Test func viewsOfAFileAreListed() async throws {
    let sample = try Sample("letters.zip", "harbour.png")
    let views = try await sample.tree.views(of: "letters.zip")
    #expect(views.first?.view == "contents")
    #expect(views.first?.path == "letters.zip.contents")
    #expect(views.first?.isListed == true)
    for view in try await sample.tree.views(of: "harbour.png") {
      #expect(try await sample.tree.attributes(of: view.path).view == view.view)
    }
  }

  @Test func searchFindsMessagesAndNames() async throws {
    let sample = try Sample("club.mbox", "letters.zip")
    let hits = try await sample.tree.search("from:mary", in: "club.mbox").all()
    #expect(hits.count == 1)
    let hit = try #require(hits.first)
    #expect(hit.kind == .directory)
    #expect(hit.name.contains("Pictures of the harbour"))
    let inside = try await sample.tree.entries(of: hit.path).all()
    #expect(inside.contains { $0.name == "attachments" })
    #expect(try await sample.tree.search("schöne grüße", in: "club.mbox").all().count == 1)
    await expectError(.unsupported, "club.mbox") { () throws(FileTreeError) in
      for try await _ in sample.tree.search("from:", in: "club.mbox") {}
    }
    try sample.makeFolder("one/two")
    try sample.write("", to: "one/two/Annual Report.txt")
    #expect(try await sample.tree.search("report annual").all().map(\.path) == ["one/two/Annual Report.txt"])
  }

  @Test func aFileCanBeTheRoot() async throws {
    let sample = try Sample("letters.zip")
    var options = FileTree.Options()
    options.cache = .none
    let tree = try FileTree(at: FilePath(sample.path("letters.zip")), options: options)
    let beside = try await sample.tree.entries(of: "letters.zip.contents").all().map(\.name)
    #expect(try await tree.entries().all().map(\.name) == beside)
    #expect(!beside.isEmpty)
    await tree.close()
  }
}
