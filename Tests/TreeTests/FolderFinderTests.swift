import AllViews
import Bytes
import Files
import Foundation
import Queries
import TestSupport
import Testing
import Threads

@testable import FindViews
@testable import Index
@testable import Tree

/// A search of everything below a folder, in this process and without conversions.
@Suite struct FolderFinderTests {
  private struct Folder {
    let scratch: String
    let index: Index

    func write(_ name: String, _ bytes: [UInt8]) throws {
      let path = "\(scratch)/source/\(name)"
      try FileManager.default.createDirectory(
        atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    func write(_ name: String, _ text: String) throws { try write(name, Array(text.utf8)) }

    func finder(
      _ index: Index? = nil, part: (number: Int, count: Int)? = nil, shared: String? = nil
    ) throws -> FolderFinder {
      let index = index ?? self.index
      let root = try RealRoot(
        Descriptor.open(path: scratch + "/source", for: .place), pool: DescriptorPool(capacity: 64),
        path: scratch + "/source")
      let tree = try Tree(mirroring: root, views: Views(index: index))
      let folder = try ResolvedPath.find([], in: tree, .blocking)
      return try FolderFinder(folder, index: index, part: part, shared: shared)
    }

    @discardableResult func update(_ finder: FolderFinder) throws -> FolderCrawl.Progress {
      let (crawl, lock) = try #require(finder.crawl())
      crawl.run(atATime: 2)
      withExtendedLifetime(lock) {}
      #expect(crawl.reach.isDone && crawl.reach.fault == nil, "\(String(describing: crawl.reach.fault))")
      return crawl.reach
    }

    /// The index of the folder.
    func documents() throws -> DocumentIndex {
      let root = try RealRoot(
        Descriptor.open(path: scratch + "/source", for: .place), pool: DescriptorPool(capacity: 8))
      let key = try FolderFinder.key(of: RealFolder(root: root))
      return try #require(index.documents(below: key, version: FolderCrawl.version, options: 0))
    }

    func paths(_ query: String, _ finder: FolderFinder) throws -> [String] {
      let query = try FindQuery(query)
      return try finder.results(query).numbers.compactMap { number in
        try finder.hit(number, query).map { String(decoding: $0.path, as: UTF8.self) }
      }
    }
  }

  private func withFolder(_ body: (Folder) throws -> Void) throws {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("finder-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    try FileManager.default.createDirectory(atPath: path + "/source", withIntermediateDirectories: true)
    let index = Index(folder: path + "/cache")
    defer { index.finish(within: .seconds(5)) }
    try body(Folder(scratch: path, index: index))
  }

  private static func mail(_ subject: String, _ body: String, from: String = "anna@example.com", day: Int = 1) -> String
  {
    """
    From a@b Mon Jan  1 00:00:00 2024
    From: \(from)
    To: bob@example.com
    Subject: \(subject)
    Date: \(day) Mar 2024 12:00:00 +0000

    \(body)


    """
  }

  @Test func textAtAnyDepthIsFound() throws {
    try withFolder { folder in
      try folder.write("note.txt", "The quick zebra.\n")
      try folder.write("sub/page.html", "<html><title>Animals</title><body>An <b>okapi</b> here</body></html>")
      try folder.write(
        "sub/latin.txt", Array("Gr".utf8) + [0xfc, 0xdf] + Array("e aus M".utf8) + [0xfc] + Array("nchen".utf8))
      try folder.write("in.mbox", Self.mail("Numbers", "an invoice") + Self.mail("Zebra again", "nothing", day: 2))
      try folder.write("one.eml", String(Self.mail("Single", "lonely walrus").drop { $0 != "\n" }.dropFirst()))
      let inner = ZipFixture(ZipFixtureEntry("deep/x.txt", "buried zebra"), ZipFixtureEntry("y.bin", [0, 1])).bytes()
      try folder.write("old.TAR.gz", [1])
      try folder.write("outer.zip", ZipFixture(ZipFixtureEntry("inner.zip", inner)).bytes())
      let finder = try folder.finder()
      try folder.update(finder)
      func paths(_ query: String) throws -> [String] { try folder.paths(query, finder) }
      #expect(try paths("ext:tar.GZ") == ["old.TAR.gz"] && paths("ext:gz").count == 1 && paths("ext:r.gz") == [])
      #expect(
        try Set(paths("zebra")) == [
          "note.txt", "in.mbox.messages/000002 2024-03-02 anna@example.com - Zebra again",
          "outer.zip.contents/inner.zip.contents/deep/x.txt",
        ])
      #expect(try paths("okapi") == ["sub/page.html"] && paths("title:animals") == ["sub/page.html"])
      #expect(try paths("grüsse münchen") == ["sub/latin.txt"] && paths("MUNCHEN") == ["sub/latin.txt"])
      #expect(try paths("walrus") == ["one.eml"] && paths("from:anna kind:mail walrus") == ["one.eml"])
      #expect(try paths("invoice kind:mail").count == 1 && paths("subject:zebra").count == 1)
      #expect(try paths("name:y ext:bin") == ["outer.zip.contents/inner.zip.contents/y.bin"])
      #expect(try paths("kind:folder") == ["sub/"] && paths("in:sub okapi") == ["sub/page.html"])
      #expect(
        try Set(paths("kind:archive")) == ["old.TAR.gz", "outer.zip", "outer.zip.contents/inner.zip"])
      #expect(try paths("zebra -quick -subject:zebra") == ["outer.zip.contents/inner.zip.contents/deep/x.txt"])
      #expect(try paths("near(2 quick zebra)") == ["note.txt"] && paths("\"zebra quick\"") == [])
      #expect(try paths("/qu[i]ck +zebra/") == ["note.txt"] && paths("zebra /absent/") == [])
      #expect(try paths("date:2024-03 sort:date").first?.contains("000002") ?? false)
      #expect(try paths("size:>1M") == [])
      // The folder itself has a name, too.
      #expect(try paths("okapi in:source") == ["sub/page.html"] && paths("okapi in:source/sub").count == 1)
      #expect(try paths("okapi in:other/sub") == [])
      #expect(try paths("near(999 quick zebra)") == ["note.txt"] && paths("near(0 the zebra)") == [])
      let suggestion = try finder.results(FindQuery("walrsu")).suggestion
      #expect(suggestion == "walrus")
    }
  }

  /// As in the search of mail, a message is of the day on which it was written, where it was written.
  @Test func messagesAreOfTheDayOfTheirAuthors() throws {
    try withFolder { folder in
      let west = "From: a@b\nSubject: west\nDate: Fri, 1 Mar 2024 23:30:00 -0800\n\nx\n"
      let east = "From: a@b\nSubject: east\nDate: Sun, 3 Mar 2024 00:30:00 +1300\n\nx\n"
      let separator = "From a@b Tue Mar  5 00:00:00 2024\n"
      let undated = "From: a@b\nSubject: undated\n\nx\n"
      try folder.write("in.mbox", [west, east, undated].map { separator + $0 + "\n" }.joined())
      try folder.write("west.eml", west)
      try folder.write("sub/empty.txt", "")
      let finder = try folder.finder()
      try folder.update(finder)
      func names(_ query: String) throws -> Set<String> {
        Set(try folder.paths(query + " kind:mail", finder).map { String($0.suffix(8)) })
      }
      #expect(try names("date:2024-03-01") == ["b - west", "west.eml"])
      #expect(try names("date:2024-03-02") == [])
      #expect(try names("date:2024-03-03") == ["b - east"] && names("after:2024-03-04") == [" undated"])
      #expect(try names("before:2024-03-02") == ["b - west", "west.eml"])
      let found = try folder.paths("date:2024-03-01 kind:mail", finder)
      #expect(found.contains("in.mbox.messages/000001 2024-03-01 a@b - west"))
      let query = try FindQuery("kind:mail subject:east")
      let number = try #require(finder.results(query).numbers.first)
      #expect(try finder.hit(number, query)?.shownDay == "2024-03-03")
      // A folder has no size.
      #expect(
        try folder.paths("size:<1", finder) == ["sub/empty.txt"] && folder.paths("kind:folder", finder) == ["sub/"])
    }
  }

  @Test func onlyChangedFilesAreReadAgain() throws {
    try withFolder { folder in
      for number in 0..<40 { try folder.write("f\(number).txt", "common word\(number)") }
      let messages = (1...20).map { Self.mail("m\($0)", "text\($0)") }
      try folder.write("in.mbox", messages.joined())
      let finder = try folder.finder()
      #expect(try folder.update(finder).filesDone == 41)
      #expect(try folder.update(finder).files == 0)
      let limit = try #require(folder.documents().counts).limit
      // One more mail is one more document, and those of the others stay.
      try folder.write("in.mbox", messages.joined() + Self.mail("new", "fresh text"))
      try folder.write("f7.txt", "common rewritten")
      try FileManager.default.removeItem(atPath: folder.scratch + "/source/f8.txt")
      #expect(try folder.update(finder).filesDone == 2)
      #expect(try folder.paths("fresh", finder).count == 1 && folder.paths("text20", finder).count == 1)
      #expect(try folder.paths("word7", finder) == [] && folder.paths("rewritten", finder) == ["f7.txt"])
      // The index still has the words of removed documents, and suggests none of them.
      #expect(try finder.results(FindQuery("rewriten")).suggestion == "rewritten")
      try folder.write("f7.txt", "common again")
      try folder.update(finder)
      #expect(try finder.results(FindQuery("rewriten")).suggestion == nil)
      #expect(try folder.paths("word8", finder) == [] && folder.paths("common", finder).count == 39)
      // The file, the mailbox, its last message, which may have grown, and the new one.
      #expect(try #require(folder.documents().counts).limit <= limit + 5)
    }
  }

  /// Many files are read in several scans, which together read each of them once.
  @Test func filesAreReadInBatches() throws {
    try withFolder { folder in
      for number in 0..<95 { try folder.write("d\(number % 7)/f\(number).txt", "needle word\(number)") }
      let root = try RealRoot(
        Descriptor.open(path: folder.scratch + "/source", for: .place), pool: DescriptorPool(capacity: 64))
      let tree = try Tree(mirroring: root, views: Views(index: folder.index))
      let place = try ResolvedPath.find([], in: tree, .blocking)
      let documents = try folder.documents()
      func crawl() -> FolderCrawl.Progress {
        let crawl = FolderCrawl(place, DocumentParts(documents), batch: 10)
        crawl.run(atATime: 2)
        return crawl.reach
      }
      let first = crawl()
      #expect(first.files == 95 && first.filesDone == 95 && first.fault == nil)
      #expect(documents.numbers(matching: "\"needle\"", in: .bodies)?.count == 95)
      #expect(try #require(documents.counts).documents == 95 + 7)
      #expect(crawl().files == 0)
      for number in 0..<30 {
        try FileManager.default.removeItem(atPath: "\(folder.scratch)/source/d\(number % 7)/f\(number).txt")
      }
      for number in 30..<60 { try folder.write("d\(number % 7)/f\(number).txt", "other") }
      #expect(crawl().filesDone == 30)
      #expect(try #require(documents.counts).documents == 65 + 7)
      #expect(try FolderSearch(documents).results(FindQuery("needle")).numbers.count == 35)
    }
  }

  @Test func stoppedCrawlContinues() throws {
    try withFolder { folder in
      for number in 0..<300 { try folder.write("d\(number % 7)/f\(number).txt", "needle word\(number)") }
      try folder.write("in.mbox", (1...300).map { Self.mail("m\($0)", "needle text\($0)") }.joined())
      let finder = try folder.finder()
      for delay in [0.0, 0.02, 0.05] {
        let (crawl, lock) = try #require(finder.crawl())
        // While one works, another one cannot.
        #expect(finder.crawl() == nil)
        let stopper = Thread {
          Thread.sleep(forTimeInterval: delay)
          crawl.stop()
        }
        stopper.start()
        crawl.run(atATime: 2)
        withExtendedLifetime(lock) {}
      }
      try folder.update(finder)
      #expect(try finder.results(FindQuery("needle")).numbers.count == 600)
      #expect(try folder.update(finder).files == 0)
    }
  }

  /// Another process clears the cache while this one brings the index up to date.
  @Test(arguments: [1, 3, 8]) func indexRemovedDuringACrawlIsMadeAgain(_ moment: Int) throws {
    try withFolder { folder in
      for number in 0..<40 { try folder.write("\(number).txt", "needle word\(number)") }
      let finder = try folder.finder()
      try folder.update(finder)
      for number in 40..<50 { try folder.write("\(number).txt", "needle word\(number)") }
      let (calls, index) = (Monitor(0), folder.index)
      let (crawl, lock) = try #require(
        finder.crawl {
          let call = calls.change { calls in
            calls += 1
            return calls
          }
          if call == moment { #expect(index.forgetDocuments() == 1) }
          return true
        })
      crawl.run(atATime: 2)
      withExtendedLifetime(lock) {}
      #expect(crawl.reach.isDone && crawl.reach.fault == nil)
      let other = try folder.finder(Index(folder: folder.scratch + "/cache"))
      #expect(try other.results(FindQuery("needle")).numbers.count == 50)
    }
  }

  @Test func emptyMatchesOfExpressionsAreNotMarked() throws {
    try withFolder { folder in
      try folder.write("a.txt", "needle")
      let finder = try folder.finder()
      try folder.update(finder)
      for query in ["/x*/", "/^/", "/$/", "needle /()/", "/x|/", "needle /y*/"] {
        let query = try FindQuery(query)
        let hits = try finder.results(query).numbers.compactMap { try finder.hit($0, query) }
        #expect(hits.map(\.snippet.text) == ["needle"])
        #expect(hits.flatMap(\.snippet.marks).allSatisfy { !$0.isEmpty })
      }
      #expect(throws: Fault.self) { try FindQuery("/a\0b/") }
    }
  }

  @Test func partsAnswerAsOneIndex() throws {
    try withFolder { folder in
      for number in 0..<200 {
        try folder.write(
          "d\(number % 9)/file \(number).txt", "needle word\(number % 7) " + String(repeating: "hay ", count: number))
      }
      try folder.write(
        "in.mbox", (1...40).map { Self.mail("Needle \($0)", "word\($0 % 7) text", day: $0 % 28 + 1) }.joined())
      try folder.write("a.zip", ZipFixture(ZipFixtureEntry("needle/x.txt", Array("word3 zebra".utf8))).bytes())
      let queries = [
        "needle", "word3", "needle word3 -hay", "\"needle word3\"", "kind:mail", "ext:txt sort:date", "name:file",
        "zebra OR word1",
        "in:d3", "near(needle hay)", "from:anna needle", "/word[1-3] text/",
      ]
      let whole = try folder.finder()
      try folder.update(whole)
      let wanted = try queries.map { try folder.paths($0, whole) }
      #expect(wanted.allSatisfy { !$0.isEmpty })
      func expectTheSame(_ finder: FolderFinder, _ comment: Comment) throws {
        for (query, wanted) in zip(queries, wanted) {
          #expect(try folder.paths(query, finder) == wanted, "\(query): \(comment)")
        }
        #expect(try finder.results(FindQuery("zebar")).suggestion == "zebra", comment)
      }
      // Five parts, made one by one, of which one is stopped and made again.
      let index = Index(folder: folder.scratch + "/other")
      for number in 0..<5 {
        let finder = try folder.finder(index, part: (number, 5))
        if number == 2 {
          let (crawl, lock) = try #require(finder.crawl())
          crawl.stop()
          crawl.run(atATime: 2)
          withExtendedLifetime(lock) {}
        }
        let reach = try folder.update(finder)
        #expect(reach.files > 0 && reach.files < 100)
      }
      let parts = try folder.finder(index)
      try expectTheSame(parts, "parts")
      #expect(try folder.update(parts).files == 0)
      // Copies for other machines, which have an index of their own or none.
      let shared = folder.scratch + "/shared"
      for number in 0..<5 { #expect(try folder.finder(index, part: (number, 5)).publish(to: shared)) }
      let third = Index(folder: folder.scratch + "/third")
      let published = try folder.finder(third, shared: shared)
      #expect(published.publishedPercent == 100)
      try expectTheSame(published, "copies")
      // Another machine continues with the copy.
      #expect(try folder.update(folder.finder(third, part: (1, 5), shared: shared)).files == 0)
      // A damaged copy is left out, and counts as missing.
      let names = try FileManager.default.contentsOfDirectory(atPath: shared + "/find").filter {
        $0.hasSuffix("-5.sqlite")
      }
      #expect(names.count == 5)
      let first = shared + "/find/" + names[0]
      #expect((try FileManager.default.attributesOfItem(atPath: first)[.posixPermissions] as? Int) == 0o600)
      try Data(repeating: 7, count: 100_000).write(to: URL(fileURLWithPath: first))
      #expect(try folder.finder(third, shared: shared).publishedPercent == 80)
      #expect(!FileManager.default.fileExists(atPath: first))
      // What has changed is found by all parts of one's own.
      try folder.write("d3/new.txt", "needle new")
      try folder.update(parts)
      #expect(try folder.paths("new", parts) == ["d3/new.txt"])
      index.finish(within: .seconds(5))
      third.finish(within: .seconds(5))
    }
  }

  /// A process that ends between an archive in an archive and the entries of it leaves nothing out.
  @Test func partlyIndexedArchiveIsCompleted() throws {
    try withFolder { folder in
      let inner = ZipFixture(ZipFixtureEntry("x.txt", "buried zebra")).bytes()
      try folder.write("outer.zip", ZipFixture(ZipFixtureEntry("inner.zip", inner)).bytes())
      let finder = try folder.finder()
      try folder.update(finder)
      let documents = try folder.documents()
      var source: DocumentSource?
      #expect(documents.forEachSource { if $0.path == Array("outer.zip".utf8) { source = $0 } })
      let whole = try #require(source)
      #expect(whole.kind == .container && whole.isDone)
      var parts = [IndexedDocument(path: [], kind: 11, date: 1, size: 1, words: [])]
      parts.append(IndexedDocument(path: Array(".contents/inner.zip".utf8), kind: 11, date: 1, size: 1, words: []))
      #expect(
        documents.apply([
          .forget(whole.id), .begin(path: whole.path, whole.state), .add(path: whole.path, parts),
        ]))
      #expect(try folder.paths("zebra", finder) == [])
      try folder.update(finder)
      #expect(try folder.paths("zebra", finder) == ["outer.zip.contents/inner.zip.contents/x.txt"])
      #expect(try folder.paths("kind:archive", finder).count == 2)
    }
  }

  @Test func wordsInDifferentPartsFindTheWhole() throws {
    let evaluated = try FindQuery("alpha beta")
    try withFolder { folder in
      let documents = try folder.documents()
      var whole = IndexedDocument(path: [], kind: 3, date: 1, size: 1, words: [[], Array("whole".utf8), [], []])
      whole.parts = 2
      func page(_ number: Int, _ text: String) -> IndexedDocument {
        var page = IndexedDocument(
          path: Array(".pages/\(number)".utf8), kind: 3, date: 1, size: 1, words: [])
        page.body = Array(text.utf8)
        return page
      }
      let state = DocumentSource.State(size: 1, modified: 1, changed: 1, inode: 1)
      for (name, pages) in [("a", ["alpha", "beta"]), ("b", ["alpha beta", "beta"]), ("c", ["alpha", "gamma"])] {
        let path = Array(name.utf8)
        #expect(
          documents.apply([
            .begin(path: path, state), .add(path: path, [whole, page(1, pages[0]), page(2, pages[1])]),
          ]))
      }
      let numbers = try FolderSearch(documents).results(evaluated).numbers
      #expect(Set(numbers) == [1, 5])
      #expect(try FolderSearch(documents).results(FindQuery("alpha -beta")).numbers.sorted() == [2, 8])
      #expect(try FolderSearch(documents).results(FindQuery("whole gamma")).numbers == [7])
      // A file whose parts have a word has it, too.
      #expect(try FolderSearch(documents).results(FindQuery("whole -beta")).numbers == [7])
      #expect(try FolderSearch(documents).results(FindQuery("-beta")).numbers.sorted() == [2, 7, 8, 9])
    }
  }

  /// Of documents with the same words, later ones come first.
  @Test func laterDocumentsComeFirst() throws {
    try withFolder { folder in
      let documents = try folder.documents()
      let state = DocumentSource.State(size: 1, modified: 1, changed: 1, inode: 1)
      let now = Int64(time(nil))
      let dates: KeyValuePairs<String, Int64?> = [
        "a": now - 900_000_000, "b": now - 1000, "c": nil, "d": now - 100_000_000,
      ]
      for (name, date) in dates {
        let words = [[], Array("same".utf8), [], []]
        var document = IndexedDocument(path: [], kind: 3, date: date, size: 1, words: words)
        document.body = Array("alpha".utf8)
        let path = Array(name.utf8)
        #expect(documents.apply([.begin(path: path, state), .add(path: path, [document])]))
      }
      #expect(try FolderSearch(documents).results(FindQuery("alpha")).numbers == [2, 4, 1, 3])
      #expect(try FolderSearch(documents).results(FindQuery("alpha sort:date")).numbers == [2, 4, 1, 3])
      // Many are ordered in another way.
      let many = (0..<600).map { _ in IndexedDocument(path: [], kind: 3, date: 5, size: 1, words: [[], [], [], []]) }
        .map { document in
          var document = document
          document.body = Array("alpha".utf8)
          return document
        }
      let path = Array("many".utf8)
      #expect(documents.apply([.begin(path: path, state), .add(path: path, many)]))
      let all = try FolderSearch(documents).results(FindQuery("alpha sort:date")).numbers
      #expect(all.prefix(4) == [2, 4, 1, 5] && all.last == 3)
      #expect(try FolderSearch(documents).results(FindQuery("alpha")).numbers.prefix(3) == [2, 4, 1])
    }
  }

  @Test func snippetsShowTheWordsOfAQuery() throws {
    let text = Array((String(repeating: "filler text ", count: 50) + "An Okapi\nand a zébra  meet. " + "end").utf8)
    let snippet = try #require(Snippet(of: text, try FindQuery("okapi zébra absent")))
    let marked = snippet.marks.map { String(decoding: Array(snippet.text.utf8)[$0], as: UTF8.self) }
    #expect(marked == ["Okapi", "zébra"] && snippet.text.hasPrefix("… ") && snippet.text.contains("Okapi and a zébra"))
    #expect(Snippet(of: text, try FindQuery("absent"), isLast: false) == nil)
    #expect(try #require(Snippet(of: Array("会議の資料です".utf8), try FindQuery("資料"))).marks.count == 1)
    // Whatever is cut before a word, whole characters are left.
    for size in 0..<100 {
      let part = Array((String(repeating: "é", count: size) + " okapi").utf8)
      #expect(try #require(Snippet(of: part, try FindQuery("okapi"))).text.contains("\u{fffd}") == false)
    }
  }

  @Test func phrasesAreComparedWithTexts() throws {
    let words = TextWords(Array("A quick-brown FOX, 会議の資料 end".utf8))
    func contain(_ query: String) throws -> Bool { words.contain(try FindQuery(query).parsed) }
    // However often words occur, and however far from each other.
    let many = TextWords(Array(String(repeating: "often ", count: 200_000).utf8))
    #expect(try !many.contain(FindQuery("near(999 often absent)").parsed))
    #expect(try contain("\"brown fox\"") && contain("quick-br*") && contain("会議") && contain("の資料"))
    #expect(try !contain("\"fox brown\"") && !contain("\"quick fox\"") && !contain("\"rown fox\"") && !contain("資会"))
    #expect(try contain("near(1 quick fox)") && !contain("near(0 quick fox)") && contain("near(fox a)"))
    try withFolder { folder in
      try folder.write("a.txt", "one two three")
      try folder.write("b.txt", "three two one")
      try folder.write("c.txt", "nothing")
      let finder = try folder.finder()
      try folder.update(finder)
      #expect(try folder.paths("\"one two\"", finder) == ["a.txt"])
      #expect(try folder.paths("three -\"one two\"", finder) == ["b.txt"])
      #expect(try folder.paths("\"one two\" OR nothing", finder).sorted() == ["a.txt", "c.txt"])
    }
  }

  @Test func similarWordsAreRecognized() {
    func distance(_ one: String, _ other: String) -> Int {
      FolderSearch.distance(Array(one.unicodeScalars), Array(other.unicodeScalars))
    }
    #expect(distance("zebra", "zebra") == 0 && distance("zebra", "zbera") == 1 && distance("zebra", "zebras") == 1)
    #expect(distance("zebra", "cobra") == 2 && distance("zebra", "walrus") > 2)
  }

  @Test(arguments: [
    "(a{1,100}){1,100}", "a{1,32767}", "(x)\\1", "a{256}", "((a{0,9}){0,9}){0,9}", "a{99999999999999999999}",
  ])
  func expensiveRegularExpressionsAreRefused(_ text: String) {
    let expression = try? RegularExpression(text)
    #expect(expression == nil)
  }

  @Test func regularExpressionsMatchWithinLines() throws {
    let text = Array("one\ntwo {3} three\n\(String(repeating: "x", count: 40_000))end".utf8)
    let places: [(String, Range<Int>?)] = [
      ("^two", 4..<7), ("\\{[0-9]\\}", 8..<11), ("e{2}", 15..<17), ("end$", 40_018..<40_021), ("one.two", nil),
    ]
    for (expression, place) in places {
      let found = try RegularExpression(expression).firstMatch(in: text)
      #expect(found == place, "\(expression)")
    }
  }

  @Test func regularExpressionsMatchCharacters() throws {
    for (expression, text) in [
      ("^m.nchen$", "München"), ("ÄPFEL", "Grüne äpfel"), ("[äö]x", "öX"), ("^会.の", "会議の資料"), ("é{3}", "éÉé"),
      ("a.c", "a😀c"),
    ] {
      #expect(try RegularExpression(expression).matches(Array(text.utf8)), "\(expression)")
    }
    #expect(try !RegularExpression("^..$").matches(Array("é".utf8)))
    // Long lines are divided between characters.
    let long = Array((String(repeating: "ä", count: 20_000) + "ende").utf8)
    #expect(try RegularExpression("ende$").firstMatch(in: long) == 40_000..<40_004)
    #expect(try RegularExpression("[^ä]").firstMatch(in: long) == 40_000..<40_001)
    // Bytes that are not UTF-8 are no characters.
    #expect(try RegularExpression("b").matches([0x61, 0xff, 0xc3, 0x62]))
  }

  /// Names, titles and senders are in the index: an expression for them needs no text, and may be excluded.
  @Test func regularExpressionsMatchNamesAndTitles() throws {
    try withFolder { folder in
      try folder.write("scans/IMG_0042.txt", "boat")
      try folder.write("scans/my IMG_7.txt", "boat")
      try folder.write("a.html", "<title>Reise 2019</title><p>boat IMG_1")
      try folder.write("m.eml", "From: Ada Shore <ada@example.org>\nSubject: Re: Reise\n\nboat\n")
      let finder = try folder.finder()
      try folder.update(finder)
      for (query, names) in [
        ("name:/^img_[0-9]{4}/", ["scans/IMG_0042.txt"]), ("boat -name:/img/", ["a.html", "m.eml"]),
        ("name:/^IMG/ OR title:/^Reise [0-9]+$/", ["a.html", "scans/IMG_0042.txt"]),
        ("from:/^ada s/", ["m.eml"]), ("subject:/reise$/", ["m.eml"]), ("title:/reise/", ["a.html", "m.eml"]),
        ("name:(/^my/ boat)", []), ("body:/IMG_1/", ["a.html"]), ("name:/scans/", ["scans/"]),
      ] {
        #expect(try folder.paths(query, finder).sorted() == names, "\(query)")
      }
      #expect(throws: Fault.self) { try FindQuery("boat OR name:/(/") }
      #expect(throws: Fault.self) { try FindQuery("boat OR body:/a/") }
    }
  }

  @Test func unknownKindsAreExplained() throws {
    for query in ["kind:nonsense", "-type:doesnotexist x", "a OR kind:zzz"] {
      #expect { try FindQuery(query) } throws: { error in (error as? Fault)?.reason.contains("(ext:") ?? false }
    }
    for query in ["kind:mail", "type:PDF", "type:heic", "kind:photo", "type:rs", "ext:zzz", "subject:x"] {
      _ = try FindQuery(query)
    }
  }

  /// Everything that declares its language.
  @Test func declaredLanguagesAreFound() throws {
    try withFolder { folder in
      try folder.write("a.html", "<!doctype html><html lang=\"de-AT\"><title>T</title><body>wort</body></html>")
      try folder.write("b.html", "<meta http-equiv=Content-Language content='fr'><p>wort</p>")
      try folder.write("c.html", "<p>wort</p>")
      try folder.write("d.eml", "From: a@b\nSubject: s\nContent-Language: pt-BR\n\nwort\n")
      let finder = try folder.finder()
      try folder.update(finder)
      // Texts declare it in their first lines, or by their names.
      for (name, text) in [
        ("n.sv.txt", "ord"), ("n.pl.txt", "ord"), ("what.is.it.txt", "ord"), ("front.md", "---\nlang: 'fi'\n---\nord"),
        ("app.po", "msgid \"\"\n\"Language: nl\\n\"\n\"ord\""), ("a.org", "#+LANGUAGE: it\nord"),
        ("a.adoc", ":lang: es\nord"), ("a.xml", "<?xml version='1.0'?><a xml:lang='da'>ord</a>"),
        ("prose.txt", "Language: German\nord"), ("ci.yml", "language: python\nord"), ("own.nb.md", "lang: cs\nord"),
      ] {
        try folder.write("texts/\(name)", text)
      }
      try folder.update(finder)
      for (language, names) in [
        ("sv", ["n.sv.txt"]), ("fi", ["front.md"]), ("nl", ["app.po"]), ("it", ["a.org"]), ("es", ["a.adoc"]),
        ("da", ["a.xml"]), ("cs", ["own.nb.md"]), ("nb", []), ("pl", []), ("german", []), ("python", []),
      ] {
        #expect(try folder.paths("ord lang:\(language)", finder) == names.map { "texts/\($0)" }, "\(language)")
      }
      #expect(try folder.paths("wort lang:de", finder) == ["a.html"] && folder.paths("lang:deu", finder) == ["a.html"])
      #expect(try folder.paths("lang:de-AT", finder) == ["a.html"] && folder.paths("lang:dsb", finder) == [])
      #expect(try folder.paths("lang:fr", finder) == ["b.html"] && folder.paths("lang:pt", finder) == ["d.eml"])
      #expect(try folder.paths("wort -lang:de -lang:fr -lang:pt", finder) == ["c.html"])
    }
  }

  /// The chapters of a book are its parts, as files of its archive.
  @Test func chaptersOfBooksAreFound() throws {
    try withFolder { folder in
      let package = """
        <package xmlns:dc="x"><metadata><dc:title>Sea &amp; Sand</dc:title><dc:creator>Ada Shore</dc:creator>
        <dc:language>de</dc:language></metadata><manifest><item id="a" href="text/one%201.xhtml" media-type="application/xhtml+xml"/>
        <item href="../two.xhtml#x" id="b" media-type="application/xhtml+xml"/><item id="c" href="c.css" media-type="text/css"/>
        </manifest><spine><itemref idref="b"/><itemref idref="a"/><itemref idref="absent"/></spine></package>
        """
      func page(_ text: String) -> String {
        "<html><head><title>\(text) chapter</title></head><body>\(text)</body></html>"
      }
      try folder.write(
        "b.epub",
        ZipFixture(
          ZipFixtureEntry("mimetype", "application/epub+zip"),
          ZipFixtureEntry("META-INF/container.xml", "<container><rootfile full-path='OEBPS/p.opf'/></container>"),
          ZipFixtureEntry("OEBPS/p.opf", package), ZipFixtureEntry("OEBPS/text/one 1.xhtml", page("zebra")),
          ZipFixtureEntry("two.xhtml", page("okapi zebra"))
        ).bytes())
      let finder = try folder.finder()
      try folder.update(finder)
      #expect(try folder.paths("zebra -okapi", finder) == ["b.epub.contents/OEBPS/text/one 1.xhtml"])
      #expect(try folder.paths("okapi lang:de", finder) == ["b.epub.contents/two.xhtml"])
      #expect(
        try folder.paths("title:sand", finder) == ["b.epub"] && folder.paths("shore kind:book", finder) == ["b.epub"])
      #expect(try folder.paths("sand okapi", finder) == ["b.epub"])
      let query = try FindQuery("okapi")
      let hit = try #require(try finder.hit(finder.results(query).numbers[0], query))
      #expect(hit.title == "okapi zebra chapter" && hit.snippet.text == "okapi zebra" && hit.snippet.marks.count == 1)
    }
  }

  /// Subtitles beside a film lead to that part of the film.
  /// UTF-16 with and without a byte order mark, and data that are not text.
  @Test func textsOfWideCharactersAreFound() throws {
    try withFolder { folder in
      let text = String(repeating: "Das Zebra läuft über die Straße.\r\n", count: 300)
      func units(_ text: String, _ isBig: Bool) -> [UInt8] {
        text.utf16.flatMap { isBig ? [UInt8($0 >> 8), UInt8($0 & 255)] : [UInt8($0 & 255), UInt8($0 >> 8)] }
      }
      for isBig in [false, true] {
        try folder.write("plain-\(isBig).txt", units(text, isBig))
        try folder.write("marked-\(isBig).txt", units("\u{feff}" + text, isBig))
        try folder.write("short-\(isBig).log", units("Zebra", isBig))
        try folder.write("data-\(isBig).bin", units("Zebra\u{1}\u{2}\u{3}" + text, isBig))
      }
      try folder.write("zeros.txt", Array("Zebra".utf8) + [UInt8](repeating: 0, count: 5000))
      let finder = try folder.finder()
      try folder.update(finder)
      let names = ["plain", "marked", "short"].flatMap { name in
        [false, true].map { "\(name)-\($0).\(name == "short" ? "log" : "txt")" }
      }
      #expect(try Set(folder.paths("zebra", finder)) == Set(names))
      #expect(try folder.paths("\"strasse das zebra\"", finder).count == 4)
    }
  }

  /// Results whose texts cannot be compared any more are told, and those that were removed are not.
  @Test func unreadDocumentsAreTold() throws {
    try withFolder { folder in
      let entry = ZipFixtureEntry("in/x.txt", "the brown fox of the archive")
      try folder.write("a.zip", ZipFixture(entry).bytes())
      try folder.write("b.txt", "the brown fox")
      try folder.write("c.txt", "the brown fox, too")
      let finder = try folder.finder()
      try folder.update(finder)
      try FileManager.default.removeItem(atPath: folder.scratch + "/source/b.txt")
      try folder.write("a.zip", Array("PK\u{3}\u{4}damaged".utf8))
      func found(_ text: String) throws -> (paths: [String], unread: UnreadDocuments) {
        let (query, unread) = (try FindQuery(text), UnreadDocuments())
        let paths = try finder.results(query, unread).numbers.compactMap { number in
          try finder.hit(number, query, unread).map { String(decoding: $0.path, as: UTF8.self) }
        }
        return (paths, unread)
      }
      for query in ["\"brown fox\"", "/brown +fox/", "\"brown fox\" OR absent", "fox -\"fox brown\""] {
        let (paths, unread) = try found(query)
        #expect(paths.contains("c.txt") && unread.count == 1, "\(query) \(paths)")
        let reason = unread.fault?.reason ?? ""
        #expect(reason.hasPrefix("a.zip.contents/in/x.txt may match and cannot be read: "), "\(query) \(reason)")
      }
      // Words alone need no text.
      #expect(try found("fox").unread.count == 0)
    }
  }

  /// A phrase is found in whichever of the stored parts of a document it is.
  @Test func phrasesAreFoundInLateParts() throws {
    try withFolder { folder in
      var subtitles = ""
      for number in 0..<600 {
        let second = number * 20
        let time = { (second: Int) in
          String(format: "%02d:%02d:%02d,000", second / 3600, second / 60 % 60, second % 60)
        }
        let words = number == 3 ? "early walrus" : number == 580 ? "late brown fox" : "nothing"
        subtitles += "\(number)\n\(time(second)) --> \(time(second + 2))\n\(words)\n\n"
      }
      try folder.write("f.mkv", "not really")
      try folder.write("f.srt", subtitles)
      let finder = try folder.finder()
      try folder.update(finder)
      #expect(try folder.paths("walrus \"brown fox\"", finder) == ["f.srt"])
    }
  }

  @Test func subtitlesLeadToTheirFilm() throws {
    let lines = """
      1
      00:00:01,000 --> 00:00:02,500
      The <i>zebra</i> sleeps

      2
      00:01:02,200 --> 00:01:04,000
      an {\\an8}okapi
      wakes

      """
    try withFolder { folder in
      try folder.write("films/sea.mkv", "not really")
      try folder.write("films/sea.de.srt", lines)
      try folder.write("alone.srt", lines)
      try folder.write("f.vtt", "WEBVTT\n\n01:02.000 --> 01:03.000 align:start\nwalrus\n")
      try folder.write("f.mp4", "no film")
      let finder = try folder.finder()
      try folder.update(finder)
      #expect(
        try folder.paths("okapi wakes", finder).sorted() == ["alone.srt", "films/sea.mkv.1m2s-1m4s.as.mp4"])
      #expect(try folder.paths("zebra lang:de", finder) == ["films/sea.mkv.1s-3s.as.mp4"])
      #expect(try folder.paths("walrus", finder) == ["f.mp4.1m2s-1m3s.as.mp4"])
      #expect(try folder.paths("zebra okapi kind:text", finder).sorted() == ["alone.srt", "films/sea.de.srt"])
      let query = try FindQuery("okapi kind:film")
      let hit = try #require(try finder.hit(finder.results(query).numbers[0], query))
      #expect(hit.title == "sea.mkv at 1:02" && hit.snippet.text == "an okapi wakes")
      // A passage is in its film, wherever its words are, and in the folder of that.
      for place in ["sea.mkv", "films/sea.mkv", "films", "source/films/SEA.mkv"] {
        #expect(
          try folder.paths("okapi kind:film in:\(place)", finder) == ["films/sea.mkv.1m2s-1m4s.as.mp4"], "\(place)")
      }
      #expect(
        try folder.paths("walrus kind:film in:f.mp4", finder).count == 1 && folder.paths("okapi in:sea", finder) == [])
    }
  }

  /// Labels and marks of deletion are those of the search of a mailbox.
  @Test func labelsOfMessagesAreFound() throws {
    func mail(_ subject: String, _ field: String) -> String {
      "From a@b Mon Jan  1 12:00:00 2024\nSubject: \(subject)\n\(field)\n\nzebra\n\n"
    }
    try withFolder { folder in
      try folder.write(
        "in.mbox",
        mail("one", "X-Gmail-Labels: Work/Project-A,Inbox") + mail("two", "X-Gmail-Labels: workshop")
          + mail("gone", "X-Mozilla-Status: 0009"))
      try folder.write("Mail/cur/1:2,FST", "From: a@b\nSubject: flags\n\nzebra\n")
      try folder.write("Mail/new/2", "From: a@b\nSubject: new\n\nzebra\n")
      try folder.write("other/3:2,FST", "From: a@b\nSubject: plain\n\nzebra\n")
      let finder = try folder.finder()
      try folder.update(finder)
      func subjects(_ query: String) throws -> [String] {
        let query = try FindQuery(query)
        return try finder.results(query).numbers.compactMap { try finder.hit($0, query)?.title }.sorted()
      }
      #expect(try subjects("label:WORK zebra") == ["one"] && subjects("label:work-project-a") == ["one"])
      #expect(try subjects("label:inbox") == ["one"] && subjects("label:project-a") == [])
      #expect(try subjects("is:deleted") == ["flags", "gone"] && subjects("label:flagged") == ["flags"])
      #expect(try subjects("label:unread") == ["new"])
      #expect(try subjects("zebra kind:mail -is:deleted -label:work") == ["new", "plain", "two"])
      // The labels of a removed file are not found.
      try FileManager.default.removeItem(atPath: folder.scratch + "/source/in.mbox")
      try folder.update(finder)
      #expect(try subjects("label:inbox") == [] && subjects("label:inbox OR label:flagged") == ["flags"])
    }
  }

  /// `in:` has the name of the searched folder, too, and a passage is in its film. `ext:` may have several parts.
  @Test func foldersAndEndingsAreMatchedWhole() throws {
    try withFolder { folder in
      try folder.write("films/sea.mkv", "not really")
      try folder.write("films/sea.srt", "1\n00:00:01,000 --> 00:00:02,500\nthe zebra\n")
      for name in ["a.MIN.js", "b.js", "min.js", "c[1].txt"] { try folder.write(name, "okapi") }
      let finder = try folder.finder()
      try folder.update(finder)
      #expect(try folder.paths("ext:min.js", finder) == ["a.MIN.js"] && folder.paths("ext:.js", finder).count == 3)
      let passage = "films/sea.mkv.1s-3s.as.mp4"
      #expect(try folder.paths("in:source zebra kind:film", finder) == [passage])
      #expect(try folder.paths("in:source", finder).count == 8 && folder.paths("in:source/films", finder).count == 4)
      #expect(try folder.paths("in:films zebra kind:film", finder) == [passage])
      #expect(try folder.paths("in:films/SEA.mkv zebra", finder) == [passage])
      #expect(try folder.paths("in:sea zebra", finder) == [] && folder.paths("in:our", finder) == [])
      #expect(try folder.paths("in:c[1].txt", finder) == ["c[1].txt"])
    }
  }

  @Test func timesOfSubtitlesAreBounded() {
    for text in [
      "99999:00:00,000 --> 1:00:00,0\nx", "::, --> ::,\nx", "00:00:05,000 --> 00:00:01,000\nback", "Dialogue: 0,a,b\n",
      "Dialogue: 0,0:00:01.00,0:00:02.00,D,,0,0,0,,{\\pos(1)}He\\Nllo, you",
    ] {
      for passage in SubtitlePassages(Array(text.utf8)).passages {
        #expect(passage.end > passage.start && passage.clip(of: []) != nil)
      }
    }
    let ass = SubtitlePassages(Array("Dialogue: 0,0:00:01.00,0:00:02.00,D,,0,0,0,,{\\pos(1)}He\\Nllo, you".utf8))
    #expect(ass.passages.map { String(decoding: $0.text, as: UTF8.self) } == ["He llo, you\n"])
  }

  /// Escapes of JSON and folded lines of calendars do not divide words.
  @Test func wordsAreFoundHoweverTheyAreWritten() throws {
    try withFolder { folder in
      try folder.write("a.json", #"{"k": "na\u00efve \ud83d\ude00 \\u0041 \uff26ull"}"#)
      try folder.write("broken.json", #"{"k": "okapi", }}"#)
      try folder.write(
        "c.ics",
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART:20240101T100000Z\r\n"
          + "SUMMARY:the ze\r\n bra sleeps\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n")
      let finder = try folder.finder()
      try folder.update(finder)
      #expect(try folder.paths("naive full u0041", finder) == ["a.json"])
      #expect(try folder.paths("okapi", finder) == ["broken.json"] && folder.paths("zebra", finder) == ["c.ics"])
    }
  }

  /// The text of an attached message is that of the message alone.
  @Test func attachedMessagesAreCountedOnce() throws {
    try withFolder { folder in
      try folder.write(
        "outer.eml",
        """
        From: a@b
        Subject: outer
        MIME-Version: 1.0
        Content-Type: multipart/mixed; boundary=x

        --x

        the zebra
        --x
        Content-Type: message/rfc822

        From: c@d
        Subject: inner

        an okapi
        --x--

        """)
      let finder = try folder.finder()
      try folder.update(finder)
      #expect(try folder.paths("zebra", finder) == ["outer.eml"])
      let inner = try folder.paths("okapi", finder)
      #expect(inner.count == 1 && inner[0].hasPrefix("outer.eml.message/attachments/"), "\(inner)")
      #expect(try folder.paths("zebra okapi", finder) == ["outer.eml"])
      // An attachment is a file of its own, and excludes only itself.
      #expect(try folder.paths("zebra -okapi", finder) == ["outer.eml"])
      #expect(try folder.paths("okapi -zebra", finder) == inner)
    }
  }

  @Test func searchWorksWithoutACacheFolder() throws {
    try withFolder { folder in
      try folder.write("a.txt", "zebra")
      let root = try RealRoot(
        Descriptor.open(path: folder.scratch + "/source", for: .place), pool: DescriptorPool(capacity: 64))
      let none = Index(folder: nil)
      let tree = try Tree(mirroring: root, views: Views(index: none))
      let finder = try FolderFinder(ResolvedPath.find([], in: tree, .blocking), index: none)
      try folder.update(finder)
      #expect(finder.isTemporary)
      #expect(try folder.paths("zebra", finder) == ["a.txt"])
      try folder.write("b.txt", "zebra two")
      #expect(try folder.update(finder).filesDone == 1 && folder.paths("zebra", finder).count == 2)
      // One at a time, as with a file.
      let held = try #require(finder.crawl())
      #expect(finder.crawl() == nil)
      withExtendedLifetime(held.lock) {}
    }
  }

  @Test func mailboxOfManyMessagesIsIndexed() throws {
    try withFolder { folder in
      let message = "From a@b Mon Jan  1 00:00:00 2024\nFrom: a@example.com\nSubject: s\n\nbody\n\n"
      try folder.write("big.mbox", String(repeating: message, count: 12_000) + Self.mail("Last", "needle"))
      let finder = try folder.finder()
      try folder.update(finder)
      #expect(try folder.paths("body", finder).count == 12_000)
      #expect(try folder.paths("needle", finder).count == 1)
    }
  }

  @Test func damagedIndexNeverOmitsResults() throws {
    try withFolder { folder in
      for number in 0..<300 { try folder.write("\(number).txt", "tok\(number % 7) shared\n") }
      try folder.update(try folder.finder())
      let file = try #require(
        try FileManager.default.contentsOfDirectory(atPath: folder.scratch + "/cache/find")
          .first { $0.hasSuffix(".sqlite") })
      let path = "\(folder.scratch)/cache/find/\(file)"
      let whole = try Data(contentsOf: URL(fileURLWithPath: path))
      var generator = SeededNumbers(seed: 7)
      var damaged = 0
      for _ in 0..<40 {
        var bytes = whole
        bytes[Int.random(in: 100..<bytes.count, using: &generator)] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        try bytes.write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let finder = try folder.finder()
        let before = finder.replacements
        let (crawl, lock) = try #require(finder.crawl())
        crawl.run(atATime: 2)
        withExtendedLifetime(lock) {}
        let found = try? folder.paths("tok3", finder)
        if let found, crawl.reach.fault == nil, finder.replacements == before {
          #expect(found.count == 43)
        } else {
          damaged += 1
        }
      }
      #expect(damaged > 0)
    }
  }
}
