import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Index

@Suite struct TextIndexTests {
  private static let source: [UInt8] = (0..<16).map { $0 }

  private static func text(_ body: String, subject: String = "", files: String = "") -> IndexedText {
    IndexedText(
      subject: Array(subject.utf8), sender: [], recipients: [], body: Array(body.utf8), files: Array(files.utf8))
  }

  private func withIndex(_ body: (String, Index) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("texts-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder, Index(folder: folder))
  }

  @Test func indexedWordsAreFound() throws {
    try withIndex { folder, index in
      let texts = try #require(try index.texts(of: Self.source, state: [1], version: 1))
      let first = [Self.text("Grüße aus Zürich", subject: "One"), Self.text("nothing")]
      #expect(texts.add(first, behind: 0, isLast: false))
      #expect(texts.reach.map { $0.count == 2 && !$0.isWhole } ?? false)
      #expect(texts.add([Self.text("grusse", files: "one.pdf")], behind: 2, isLast: true))
      func found(_ expression: String) -> [UInt32]? { texts.numbers(matching: expression) }
      #expect(found("\"grusse\"") == [2] && found("\"GRUẞE\" OR \"grüße\"") == [0])
      #expect(found("\"zürich\"") == [0] && found("\"aus zürich\"") == [0] && found("\"zürich aus\"") == [])
      #expect(found("\"one\"") == [0, 2] && found("subject : \"one\"") == [0] && found("files : \"on\" *") == [2])
      // A second index of the same state has them, one of another state does not.
      let again = try #require(try Index(folder: folder).texts(of: Self.source, state: [1], version: 1))
      #expect(again.reach.map { $0.count == 3 && $0.isWhole } ?? false)
      let newer = try #require(try Index(folder: folder).texts(of: Self.source, state: [2], version: 1))
      #expect(newer.reach.map { $0.count == 0 && !$0.isWhole } ?? false)
      #expect(newer.numbers(matching: "\"one\"") == [])
    }
  }

  @Test func provenTextsOfEarlierStateAreKept() throws {
    try withIndex { _, index in
      func texts(_ state: UInt8, _ continues: Bool) throws -> TextIndex? {
        try index.texts(of: Self.source, state: [state], version: 1, proof: [state]) { proof, count in
          #expect(proof == [state - 1] && count == Int(state) - 1)
          return continues
        }
      }
      #expect(try #require(try texts(1, false)).add([Self.text("a")], behind: 0, isLast: true))
      let grown = try #require(try texts(2, true))
      #expect(grown.reach.map { $0.count == 1 && !$0.isWhole } ?? false)
      #expect(grown.add([Self.text("a b")], behind: 1, isLast: true) && grown.numbers(matching: "a") == [0, 1])
      #expect(try #require(try texts(3, false)).reach?.count == 0)
    }
  }

  @Test func invalidTextQueryReturnsNoResult() throws {
    try withIndex { _, index in
      let texts = try #require(try index.texts(of: Self.source, state: [1], version: 1))
      #expect(texts.add([Self.text("a")], behind: 0, isLast: true))
      #expect(texts.numbers(matching: "\"open") == nil)
    }
  }

  @Test func damagedTextIndexIsRebuilt() throws {
    try withIndex { folder, index in
      func texts() throws -> TextIndex {
        try #require(try Index(folder: folder).texts(of: Self.source, state: [1], version: 1))
      }
      #expect(try texts().add((0..<500).map { Self.text("word\($0)") }, behind: 0, isLast: true))
      let name = try #require(
        try FileManager.default.contentsOfDirectory(atPath: folder + "/texts").first { $0.hasSuffix("sqlite") })
      let path = "\(folder)/texts/\(name)"
      let whole = try Data(contentsOf: URL(fileURLWithPath: path))
      for size in [0, 10, 5000, whole.count / 2] {
        try whole.prefix(size).write(to: URL(fileURLWithPath: path))
        let damaged = try texts()
        // It reports that it is empty, or the damage is detected by a query; then the next one is empty.
        if damaged.reach?.count != 0 { _ = damaged.numbers(matching: "\"word7\"") }
        let fresh = try texts()
        if fresh.reach?.count == 0 { #expect(fresh.add([Self.text("word7")], behind: 0, isLast: true)) }
        #expect(fresh.numbers(matching: "\"word7\"")?.count ?? 0 <= 1)
      }
      try Data(repeating: 0x61, count: 9000).write(to: URL(fileURLWithPath: path))
      #expect(try texts().reach?.count == 0)
    }
  }

  /// One byte of each page is changed in turn; every query is answered completely or not at all.
  @Test func damagedTextIndexNeverOmitsResults() throws {
    try withIndex { folder, index in
      func texts() throws -> TextIndex {
        try #require(try Index(folder: folder).texts(of: Self.source, state: [1], version: 1))
      }
      let count = 3000
      let bodies = (0..<count).map { Self.text("common word\($0) word\($0 / 7) \($0 % 3 == 0 ? "third" : "")") }
      #expect(try texts().add(bodies, behind: 0, isLast: true))
      let name = try #require(
        try FileManager.default.contentsOfDirectory(atPath: folder + "/texts").first { $0.hasSuffix("sqlite") })
      let url = URL(fileURLWithPath: "\(folder)/texts/\(name)")
      let whole = try Data(contentsOf: url)
      var numbers = SeededNumbers(seed: 14)
      var noticed = 0
      let expected = ["common": count, "word5": 8, "third": 1000, "word2999": 1, "word2": 8]
      for page in 0..<whole.count / 8192 {
        var damaged = whole
        let place = page * 8192 + Int(numbers.next() % 8184)
        damaged[place] ^= 1 << UInt8(numbers.next() % 8)
        #expect(
          FileManager.default.createFile(
            atPath: url.path, contents: damaged, attributes: [.posixPermissions: 0o600]))
        let texts = try texts()
        guard texts.reach?.count == count else {
          noticed += 1
          continue
        }
        for (word, hits) in expected {
          guard let found = texts.numbers(matching: word, among: count) else {
            noticed += 1
            break
          }
          #expect(found.count == hits, "\(word), page \(page)")
        }
      }
      #expect(noticed > 3)
    }
  }

  @Test func temporaryTextIndexBehavesLikeOthers() throws {
    let texts = try #require(TextIndex(temporary: ()))
    #expect(texts.isTemporary && texts.lock() != nil && texts.reach?.count == 0)
    #expect(texts.add([Self.text("one"), Self.text("two one")], behind: 0, isLast: false))
    #expect(texts.reach.map { $0.count == 2 && !$0.isWhole } ?? false)
    #expect(texts.add((0..<2000).map { Self.text("three word\($0)") }, behind: 2, isLast: true))
    #expect(texts.numbers(matching: "one", among: 2) == [0, 1] && texts.numbers(matching: "three")?.count == 2000)
    #expect(texts.numbers(matching: "one", among: 2003) == nil && texts.reach?.isWhole == true)
    // Another one does not have them.
    #expect(TextIndex(temporary: ())?.numbers(matching: "one") == [])
  }

  @Test func concurrentOpensCreateOneTextIndex() throws {
    try withIndex { folder, _ in
      // The first one creates the folder.
      _ = try Index(folder: folder).texts(of: [1], state: [1], version: 1)
      let found = Mutex(0)
      DispatchQueue.concurrentPerform(iterations: 8) { _ in
        let texts = try? Index(folder: folder).texts(of: Self.source, state: [1], version: 1)
        if let reach = texts?.reach, reach.count == 0 { found.withLock { $0 += 1 } }
      }
      #expect(found.withLock { $0 } == 8)
    }
  }

  @Test func textsAreAppendedOnlyAtTheEnd() throws {
    try withIndex { folder, index in
      let one = try #require(try index.texts(of: Self.source, state: [1], version: 1))
      let other = try #require(try Index(folder: folder).texts(of: Self.source, state: [1], version: 1))
      #expect(one.add([Self.text("a")], behind: 0, isLast: false))
      #expect(!other.add([Self.text("a")], behind: 0, isLast: false))
      #expect(other.add([Self.text("b")], behind: 1, isLast: true))
      #expect(one.numbers(matching: "\"b\"") == [1])
    }
  }

  @Test func textIndexWorksWithoutLockFile() throws {
    try withIndex { folder, index in
      let texts = try #require(try index.texts(of: Self.source, state: [1], version: 1))
      let name = try #require(
        try FileManager.default.contentsOfDirectory(atPath: folder + "/texts").first { $0.hasSuffix("sqlite") })
      try FileManager.default.createDirectory(
        atPath: "\(folder)/texts/\(name)-lock", withIntermediateDirectories: false)
      #expect(texts.lock() != nil)
    }
  }

  @Test func onlyOneWriterHoldsTheTextIndexLock() throws {
    try withIndex { folder, index in
      let one = try #require(try index.texts(of: Self.source, state: [1], version: 1))
      let other = try #require(try Index(folder: folder).texts(of: Self.source, state: [1], version: 1))
      var lock = one.lock()
      #expect(lock != nil && other.lock() == nil)
      lock = nil
      #expect(other.lock() != nil)
    }
  }

  @Test func trimmingRemovesOtherTextIndexes() throws {
    try withIndex { folder, index in
      let sources = (0..<3).map { number in [UInt8](repeating: number, count: 16) }
      for source in sources {
        let texts = try #require(try index.texts(of: source, state: [1], version: 1))
        #expect(texts.add((0..<200).map { Self.text("word\($0)") }, behind: 0, isLast: true))
      }
      #expect(index.textSize() > 0 && index.textSize(ofSourcesStartingWith: sources[1]) > 0)
      index.trimTexts(to: 0, sparing: sources[1])
      #expect(index.textSize(ofSourcesStartingWith: sources[0]) == 0)
      #expect(index.textSize(ofSourcesStartingWith: sources[1]) > 0)
      #expect(try index.forget(sourcesStartingWith: sources[1]) == 1)
      #expect(index.textSize() == 0)
    }
  }

  @Test func textIndexRequiresDirectory() throws {
    #expect(try Index(folder: nil).texts(of: Self.source, state: [], version: 1) == nil)
    #expect(try Index(folder: "/proc/none").texts(of: Self.source, state: [], version: 1) == nil)
  }

  /// A process that is being started has copies of all descriptors until it calls exec.
  @Test func lockIsFreeOnceItIsReleased() throws {
    try withIndex { folder, index in
      let texts = try #require(try index.texts(of: Self.source, state: [1], version: 1))
      func copyOfLock() throws -> Int32 {
        let lock = try #require(texts.lock())
        #expect(texts.lock() == nil)
        let links = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { name in
          let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
          return path.map { $0.hasPrefix(folder) && $0.hasSuffix("-lock") } ?? false
        }
        let copy = dup(try #require(links.first.flatMap { Int32($0) }))
        withExtendedLifetime(lock) {}
        return copy
      }
      let copy = try copyOfLock()
      #expect(copy >= 0 && texts.lock() != nil)
      close(copy)
    }
  }
}
