import Bytes
import Testing

@testable import ServerAnswers

@Suite struct KeyWalkTests {
  private func objects(_ keys: [String]) -> [(key: [UInt8], item: ServerItem)] {
    keys.map { (Array($0.utf8), ServerItem()) }
  }

  private func completed(_ walk: inout KeyWalk, _ keys: [String], isLastPage: Bool = false) throws -> [String: [String]]
  {
    let folders = try walk.add(objects(keys), isLastPage: isLastPage)
    return Dictionary(
      uniqueKeysWithValues: folders.map { folder in
        (
          String(decoding: folder.path, as: UTF8.self),
          folder.items.map { String(decoding: $0.name.bytes, as: UTF8.self) + ($0.kind == .folder ? "/" : "") }
        )
      })
  }

  @Test func foldersAreCompleteOnceTheKeysArePastThem() throws {
    var walk = KeyWalk(at: [UInt8(ascii: "/")])
    #expect(try completed(&walk, ["a.txt", "b/1", "b/c/2", "b/d"]) == ["/b/c": ["2"]])
    #expect(walk.count(of: Array("/b".utf8)) == 3)
    #expect(
      try completed(&walk, ["b/e/f/g/3", "z"]) == [
        "/b/e/f/g": ["3"], "/b/e/f": ["g/"], "/b/e": ["f/"], "/b": ["1", "c/", "d", "e/"],
      ])
    #expect(try completed(&walk, [], isLastPage: true) == ["/": ["a.txt", "b/", "z"]])
  }

  /// What lies before its beginning is missing.
  @Test func foldersAroundTheBeginningAreNeverComplete() throws {
    var walk = KeyWalk(at: Array("/a/b".utf8))
    #expect(walk.last == Array("a/b/".utf8))
    #expect(walk.count(of: Array("/a".utf8)) == nil)
    #expect(
      try completed(&walk, ["a/b/1", "a/c/2", "b/3"], isLastPage: true) == ["/a/b": ["1"], "/a/c": ["2"], "/b": ["3"]])
  }

  /// Marks of empty folders, and keys with parts that are not names.
  @Test func otherKeysAreNoEntries() throws {
    var walk = KeyWalk(at: [UInt8(ascii: "/")])
    let found = try completed(&walk, ["../x", "a/", "a/./y", "a//z", "b/empty/", "b/ok"].sorted(), isLastPage: true)
    #expect(found == ["/a": [], "/b/empty": [], "/b": ["empty/", "ok"], "/": ["a/", "b/"]])
  }

  @Test func keysOutOfOrderAreRefused() throws {
    var walk = KeyWalk(at: [UInt8(ascii: "/")])
    #expect(throws: Fault.self) { try walk.add(objects(["b", "a"]), isLastPage: true) }
    #expect(throws: Fault.self) { try walk.add(objects(["c", "c"]), isLastPage: true) }
  }
}
