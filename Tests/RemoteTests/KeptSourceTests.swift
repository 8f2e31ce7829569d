import Bytes
import Files
import Glibc
import Index
import ServerAnswers
import TestSupport
import Testing

@testable import ffremote

/// What is kept of a source between mounts.
@Suite struct KeptSourceTests {
  private let folder: SourceFolder
  private let cache: SourceCache

  init() throws {
    folder = try SourceFolder()
    cache = try #require(SourceCache(in: folder.path, size: 1 << 20, isOffline: false))
  }

  private func source(tagsAreTimes: Bool = false) throws -> KeptSource {
    try #require(KeptSource(cache, ["source"], base: "http://host", tagsAreTimes: tagsAreTimes))
  }

  /// A listing of which records are missing is no shorter listing.
  @Test func listingIsWhole() throws {
    let source = try source()
    let path = Array("/a".utf8)
    let item = { (name: String) in
      var item = ServerItem()
      item.name = FileName(name)
      return item
    }
    let items = (0..<9).map { item("file \($0)") }
    source.keep(items, of: path)
    #expect(cache.index.flush(within: .seconds(30)))
    #expect(source.listing(of: path) == items)
    // The record says that another one follows.
    let identity = try #require(cache.digest(["source", "source"]))
    let record = IndexRecord(
      key: Array("l/a\0\0\0".utf8), value: [2] + ServerItem.encoded([item("first")]))
    #expect(cache.index.store([record], .elsewhere, of: identity))
    #expect(source.listing(of: path) == nil)
    let other = IndexRecord(key: Array("l/a\0\0\u{1}".utf8), value: [2] + ServerItem.encoded([item("second")]))
    #expect(cache.index.store([other], .elsewhere, of: identity))
    #expect(source.listing(of: path) == [item("first"), item("second")])
  }

  /// A file that changes twice within a second keeps a tag that is its time.
  @Test(arguments: [(-30, false), (3600, true)])
  func versionWhoseTagIsItsTimeIsKeptWhenItIsOld(_ age: Int64, _ isWanted: Bool) throws {
    func isKept(_ modified: Int64?, tagsAreTimes: Bool) throws -> Bool {
      let opened = OpenedFile(tag: "\"a\"", size: 4, modified: modified, head: [], hasParts: true)
      return try source(tagsAreTimes: tagsAreTimes).blocks(of: opened, "/a") != nil
    }
    let modified = Timestamp.now.seconds - age
    #expect(try isKept(modified, tagsAreTimes: true) == isWanted)
    #expect(try isKept(modified, tagsAreTimes: false) && !isKept(nil, tagsAreTimes: true))
  }
}
