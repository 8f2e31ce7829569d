import Foundation
import TestSupport
import Testing

@testable import Index

@Suite struct DocumentIndexTests {
  private static let folder: [UInt8] = (0..<24).map { $0 }
  private static let state = DocumentSource.State(size: 1, modified: 2, changed: 3, inode: 4)

  private static func document(_ body: String, path: String = "", title: String = "", date: Int64? = nil)
    -> IndexedDocument
  {
    var document = IndexedDocument(
      path: Array(path.utf8), kind: 3, date: date, size: 7,
      words: [Array(title.utf8), Array("name".utf8), [], []])
    document.body = Array(body.utf8)
    document.title = Array(title.utf8)
    document.text = Array(body.utf8)
    document.fileExtension = Array("txt".utf8)
    return document
  }

  private static func page(_ body: String, path: String) -> IndexedDocument {
    var page = document(body, path: path)
    page.text = nil
    return page
  }

  private func withIndex(_ body: (String, Index) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("find-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder, Index(folder: folder))
  }

  private static func path(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test func indexedDocumentsAreFoundByWordsAndFacts() throws {
    try withIndex { folder, index in
      let documents = try #require(index.documents(below: Self.folder, version: 1, options: 0))
      var whole = Self.document("", title: "report", date: 100)
      whole.parts = 2
      whole.text = Self.path("zebra one\u{c}okapi zebra\u{c}")
      #expect(
        documents.apply([
          .begin(path: Self.path("a.pdf"), Self.state),
          .add(
            path: Self.path("a.pdf"),
            [whole, Self.page("zebra one", path: ".pages/1"), Self.page("okapi zebra", path: ".pages/2")]),
          .finish(path: Self.path("a.pdf"), Self.state, .container, programs: 0, error: []),
          .begin(path: Self.path("d/b.txt"), Self.state),
          .add(path: Self.path("d/b.txt"), [Self.document("okapi", date: 200)]),
        ]))
      #expect(documents.numbers(matching: "\"zebra\"", in: .bodies) == [2, 3])
      #expect(documents.numbers(matching: "title : \"report\"", in: .heads) == [1])
      #expect(documents.numbers(matching: "\"okapi\" AND \"zeb\" *", in: .bodies) == [3])
      func dated(_ seconds: Range<Int64>) -> [UInt32]? { documents.numbers(.date(days: 0..<0, seconds: seconds)) }
      #expect(dated(100..<200) == [1] && dated(100..<201) == [1, 4] && documents.numbers(.locked) == [])
      #expect(documents.numbers(.kind([3], extensions: [])) == [1, 2, 3, 4])
      #expect(documents.numbers(.kind([], extensions: [Self.path("pdf")])) == [])
      func inside(_ path: String) -> [UInt32]? {
        documents.numbers(.folder(Self.path(path), indexed: Self.path("Whole")))
      }
      #expect(inside("D") == [4] && inside("b") == [] && inside("whole") == [1, 2, 3, 4] && inside("whole/d") == [4])
      #expect(documents.numbers(.ending(Self.path("/B.txt"))) == [4])
      #expect(documents.groups()?.map(\.first) == [1] && documents.groups()?.map(\.parts) == [2])
      let found = try #require(documents.document(3))
      #expect(found.wholePath == Self.path("a.pdf.pages/2") && found.date == nil && found.size == 7)
      // A part has its page of the text of the whole.
      #expect(documents.text(of: 3) == Self.path("okapi zebra") && documents.text(of: 1) == nil)
      let relevance = try #require(
        documents.relevance(matching: "\"name\"", weights: [1, 1, 1, 1], phrases: [2_000_000]))
      #expect(relevance.map(\.number) == [1, 2, 3, 4])
      // A word counts by the weight of the column that has it.
      let titles = try [[5, 1, 1, 1], [1, 5, 1, 1]].map { weights in
        try #require(documents.relevance(matching: "\"report\"", weights: weights, phrases: [1_000_000]))
      }
      #expect(titles.map { $0.map(\.number) } == [[1], [1]] && titles[0][0].relevance > titles[1][0].relevance)
      // The weight of a phrase is a factor. A wrong number of them is no error.
      let half = try #require(
        documents.relevance(matching: "\"name\"", weights: [1, 1, 1, 1], phrases: [1_000_000]))
      #expect(zip(relevance, half).allSatisfy { abs($0.relevance - 2 * $1.relevance) <= 2 && $1.relevance > 0 })
      let wrong = documents.relevance(matching: "\"name\"", weights: [1, 1, 1, 1], phrases: [])
      #expect(wrong?.map(\.relevance) == [0, 0, 0, 0])
      #expect(documents.words(of: .bodies, from: "zeb", through: "zec", atMost: 9).map(\.word) == ["zebra"])
      // Another process finds the same. The second source is not finished.
      let again = try #require(Index(folder: folder).documents(below: Self.folder, version: 1, options: 0))
      var sources: [String: Bool] = [:]
      #expect(again.forEachSource { sources[String(decoding: $0.path, as: UTF8.self)] = $0.isDone })
      #expect(sources == ["a.pdf": true, "d/b.txt": false])
      #expect(again.numbers(matching: "\"okapi\"", in: .bodies) == [3, 4])
      // Of another version, nothing is left.
      let other = try #require(Index(folder: folder).documents(below: Self.folder, version: 2, options: 0))
      #expect(other.counts?.documents == 0)
    }
  }

  /// A word says more about a document whose title is short.
  @Test func wordsOfShortTitlesCountMore() throws {
    try withIndex { _, index in
      let documents = try #require(index.documents(below: Self.folder, version: 1, options: 0))
      for count in [0, 2, 40] {
        let path = Self.path("\(count).txt")
        let title = "zebra" + String(repeating: " word", count: count)
        #expect(
          documents.apply([.begin(path: path, Self.state), .add(path: path, [Self.document("", title: title)])]))
      }
      let found = try #require(
        documents.relevance(matching: "\"zebra\"", weights: [1, 1, 1, 1], phrases: [1_000_000]))
      let relevance = found.map(\.relevance)
      try #require(found.map(\.number) == [1, 2, 3])
      #expect(relevance[0] > relevance[1] && relevance[1] > relevance[2], "\(relevance)")
    }
  }

  @Test func removedDocumentsAreCountedAndForgotten() throws {
    try withIndex { _, index in
      let documents = try #require(index.documents(below: Self.folder, version: 1, options: 0))
      let path = Self.path("a.txt")
      #expect(
        documents.apply([
          .begin(path: path, Self.state), .add(path: path, [Self.document("one"), Self.document("two", path: "x")]),
        ]))
      #expect(documents.apply([.remove([1])]))
      #expect(documents.document(1) == nil && documents.text(of: 1) == nil && documents.document(2) != nil)
      #expect(documents.counts.map { $0.documents == 1 && $0.removed == 1 && $0.limit == 3 } ?? false)
      // A number is not used again, because its words are still found.
      #expect(documents.apply([.remove([2]), .add(path: path, [Self.document("three")])]))
      #expect(documents.numbers(matching: "\"three\"", in: .bodies) == [3])
      #expect(documents.numbers(.all) == [3])
      // Changes of an unknown source change nothing.
      #expect(!documents.apply([.remove([3]), .add(path: Self.path("absent"), [Self.document("four")])]))
      #expect(documents.numbers(.all) == [3])
    }
  }

  /// The facts that order results are kept apart from the documents: for each number, whatever was removed, and in
  /// however many transactions the documents came.
  @Test func ranksAreThoseOfTheDocuments() throws {
    try withIndex { folder, index in
      let documents = try #require(index.documents(below: Self.folder, version: 1, options: 0))
      let path = Self.path("a.zip")
      #expect(documents.apply([.begin(path: path, Self.state)]))
      var added: [IndexedDocument] = []
      for size in [1, 700, 299, 1, 1500, 2, 998] {
        let more = (0..<size).map { number in
          let date = number.isMultiple(of: 3) ? nil : Int64(number - 500) << 33
          return Self.document(
            String(repeating: "x", count: number % 11), path: "\(added.count + number)", date: date)
        }
        #expect(documents.apply([.add(path: path, more)]))
        added += more
      }
      #expect(documents.apply([.remove([1, 701])]) && documents.apply([.remove([1])]))
      let again = try #require(Index(folder: folder).documents(below: Self.folder, version: 1, options: 0))
      for documents in [documents, again] {
        let ranks = try #require(documents.ranks())
        #expect(ranks.dropFirst().map(\.date) == added.map(\.date))
        #expect(ranks.dropFirst().map(\.length) == added.map(\.body.count))
        #expect(ranks[2] == documents.document(2)?.rank && ranks[702] == documents.document(702)?.rank)
        #expect(documents.numbers(.all)?.count == added.count - 2 && documents.numbers(.all)?.contains(701) == false)
        #expect(documents.counts.map { $0.documents == added.count - 2 && $0.removed == 2 } ?? false)
      }
      #expect(documents.sourceCounts().map { $0.all == 1 && $0.open == 1 } ?? false)
      #expect(documents.apply([.begin(path: path, Self.state), .forget(1)]))
      #expect(documents.sourceCounts().map { $0.all == 0 && $0.open == 0 } ?? false)
      #expect(documents.numbers(.all) == [])
    }
  }

  @Test func removalByAnotherProcessIsNoted() throws {
    try withIndex { folder, index in
      let documents = try #require(index.documents(below: Self.folder, version: 1, options: 0))
      func add(_ name: String) -> Bool {
        let path = Self.path(name)
        return documents.apply([.begin(path: path, Self.state), .add(path: path, [Self.document(name)])])
      }
      #expect(add("one") && documents.replacements == 0)
      #expect(index.forgetDocuments(below: Self.folder) == 1)
      #expect(add("two") && documents.replacements == 1)
      let other = try #require(Index(folder: folder).documents(below: Self.folder, version: 1, options: 0))
      #expect(other.numbers(matching: "\"two\"", in: .bodies) == [1] && other.numbers(.all) == [1])
      // However often that happens.
      for count in 2..<6 {
        #expect(index.forgetDocuments(below: Self.folder) == 1)
        #expect(add("three") && documents.replacements == count)
      }
    }
  }

  /// A change to a file that is removed meanwhile is made in the file that other processes find.
  @Test func changeOfARemovedFileIsRepeated() throws {
    let files = Files()
    let file = ReopenedFile(files.open()) { files.open() }
    #expect(file.change { $0.changes += 1 } && file.replacements == 0)
    #expect(
      file.change { file in
        if files.latest === file, file.changes == 1 { file.isInPlace = false }
        file.changes += 1
      })
    #expect(file.replacements == 1 && files.latest?.changes == 1)
    // A reader has its result already.
    let found = file.attempt { file in
      file.isInPlace = false
      return file.changes
    }
    #expect(found == 1 && file.replacements == 1)
    #expect(file.attempt { $0.changes } == 0 && file.replacements == 2)
  }

  private final class Files: @unchecked Sendable {
    var latest: File?

    func open() -> File {
      let file = File()
      latest = file
      return file
    }
  }

  private final class File: ReplaceableFile, @unchecked Sendable {
    var isInPlace = true
    var changes = 0
    var isTemporary: Bool { false }
    func condemn() {}
  }

  @Test(arguments: [0, 100, 8192, 20_000]) func damagedDocumentIndexIsReplaced(_ offset: Int) throws {
    try withIndex { folder, index in
      let path = Self.path("a.txt")
      do {
        let documents = try #require(index.documents(below: Self.folder, version: 1, options: 0))
        #expect(documents.apply([.begin(path: path, Self.state), .add(path: path, [Self.document("needle")])]))
        documents.settle()
      }
      let name = try #require(
        try FileManager.default.contentsOfDirectory(atPath: folder + "/find").first { $0.hasSuffix(".sqlite") })
      let file = try #require(FileHandle(forWritingAtPath: "\(folder)/find/\(name)"))
      try file.seek(toOffset: UInt64(offset))
      try file.write(contentsOf: [UInt8](repeating: 0x5a, count: 4096))
      try file.close()
      let again = try #require(Index(folder: folder).documents(below: Self.folder, version: 1, options: 0))
      for _ in 0..<3 {
        // Whatever is damaged, no call returns something else than what was stored.
        #expect([nil, [], [1]].contains(again.numbers(matching: "\"needle\"", in: .bodies)))
        #expect(again.document(1).map { $0.wholePath == path } ?? true)
      }
      #expect(again.apply([.begin(path: path, Self.state), .add(path: path, [Self.document("again")])]))
      #expect(again.numbers(matching: "\"again\"", in: .bodies)?.count == 1)
    }
  }

  @Test func packedTextsAreRestored() throws {
    for text in [[], Array("short".utf8), [UInt8](repeating: 65, count: 1 << 20)] {
      #expect(try PackedText.text(PackedText.packed(text)) == text)
    }
    #expect(throws: IndexFailure.self) { try PackedText.text(Array("not a frame".utf8)) }
  }
}
