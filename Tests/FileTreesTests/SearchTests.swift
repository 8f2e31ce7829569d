import FileTrees
import Foundation
import Synchronization
import SystemPackage
import Testing

/// What is found in mail and among names, beside `ReadingTests.searchFindsMessagesAndNames`.
@Suite(.timeLimit(.minutes(5)))
struct LibrarySearchTests {
  @Test func foundMessagesHaveHeaderFields() async throws {
    let sample = try Sample("club.mbox")
    let found = try await sample.tree.messages(matching: "from:mary", in: "club.mbox").all()
    let message = try #require(found.first)
    #expect(found.count == 1)
    #expect(message.subject == "Pictures of the harbour")
    #expect(message.address.contains("@") && !message.sender.isEmpty && message.size > 0)
    let date = try #require(message.date)
    #expect(message.path.string.hasPrefix("club.mbox.messages/"))
    #expect(try await sample.tree.attributes(of: message.path).modified == date)
    #expect(try await sample.tree.search("from:mary", in: "club.mbox").all().map(\.path) == [message.path])
    await expectError(.unsupported, "club.mbox") { () throws(FileTreeError) in
      for try await _ in sample.tree.messages(matching: "since:never", in: "club.mbox") {}
    }
  }

  @Test func documentsOfAllKindsAreFoundWithSnippets() async throws {
    let sample = try Sample()
    try sample.make(
      by: """
        import zipfile
        os.makedirs('deep')
        open('deep/note.txt', 'w').write('A quiet zeppelin.')
        with zipfile.ZipFile('deep/a.zip', 'w') as archive: archive.writestr('inside.txt', 'another zeppelin')
        """)
    let found = try await sample.tree.documents(matching: "zeppelin", in: "deep").all()
    #expect(Set(found.map(\.path.string)) == ["deep/note.txt", "deep/a.zip.contents/inside.txt"])
    #expect(found.map(\.rank) == [1, 2] && found.allSatisfy { $0.kind == "text" })
    let note = try #require(found.first { $0.path == "deep/note.txt" })
    #expect(note.snippet == "A quiet zeppelin." && note.marks == [8..<16] && note.size == 17)
    #expect(try await sample.tree.text(found[0].path).contains("zeppelin"))
    #expect(try await sample.tree.similarWord(for: "zepelin", in: "deep") == "zeppelin")
    let reach = try await sample.tree.indexDocuments(in: "deep")
    #expect(reach.isDone && reach.files == 0)
    await expectError(.unsupported, "deep") { () throws(FileTreeError) in
      for try await _ in sample.tree.documents(matching: "size:big", in: "deep") {}
    }
    await expectError(.notADirectory, "deep/note.txt") { () throws(FileTreeError) in
      for try await _ in sample.tree.documents(matching: "x", in: "deep/note.txt") {}
    }
    await expectError(.unsupported, "deep/a.zip.contents") { () throws(FileTreeError) in
      for try await _ in sample.tree.documents(matching: "x", in: "deep/a.zip.contents") {}
    }
  }

  /// A search by an index that another machine has published reads no file, and says that it is done.
  @Test(arguments: [[1, 2], [2]]) func publishedIndexIsDoneIfItIsWhole(_ parts: [Int]) async throws {
    let scratch = try Sample()
    let shared = FilePath(scratch.path("shared"))
    let sample = try Sample { $0.sharedCache = shared }
    for number in 0..<20 { try sample.write("zeppelin \(number)", to: "note \(number).txt") }
    for number in parts {
      let part = try #require(FileTree.IndexPart(number, of: 2))
      try await sample.tree.indexDocuments(part: part)
    }
    var options = FileTree.Options()
    options.cache = .folder(FilePath(scratch.path("cache")))
    options.sharedCache = shared
    let tree = try FileTree(at: FilePath(sample.path("")), options: options)
    let told = Mutex<[FileTree.IndexingProgress]>([])
    let search = tree.documents(matching: "zeppelin") { progress in told.withLock { $0.append(progress) } }
    let found = try await search.all()
    #expect((found.count == 20) == (parts.count == 2) && !found.isEmpty)
    #expect(told.withLock { $0.contains { $0.isDone } } == (parts.count == 2))
    #expect(told.withLock { $0.allSatisfy { $0.files == 0 } })
    await tree.close()
  }

  @Test func documentsAreFoundInParts() async throws {
    let sample = try Sample("club.mbox")
    try sample.make(
      by: """
        import zipfile
        os.makedirs('deep/er')
        for number in range(7): open(f'deep/note {number}.txt', 'w').write(f'zeppelin {number}')
        with zipfile.ZipFile('deep/er/a.zip', 'w') as archive: archive.writestr('in/side.txt', 'another zeppelin')
        """)
    func find(
      _ query: String, in path: FilePath = "", from start: Int = 0, atMost count: Int = 100
    ) async throws -> FileTree.FoundDocuments {
      try await sample.tree.documents(matching: query, in: path, from: start, atMost: count, within: .seconds(60))
    }
    let all = try await find("zeppelin")
    #expect(all.count == 8 && all.next == nil && all.percent == 100 && all.isComplete && all.documents.count == 8)
    var parts: [FileTree.Document] = []
    var next: Int? = 0
    while let start = next {
      let part = try await find("zeppelin", from: start, atMost: 3)
      #expect(part.documents.count <= 3 && part.count == 8 && part.isComplete == (part.next == nil))
      parts += part.documents
      next = part.next
    }
    #expect(parts == all.documents)
    // Below directories of views, too.
    for (path, count) in [("deep", 8), ("deep/er", 1), ("deep/er/a.zip.contents", 1), ("deep/er/a.zip.contents/in", 1)]
    {
      #expect(try await find("zeppelin", in: FilePath(path)).documents.count == count, "\(path)")
    }
    #expect(try await find("zeppelin", in: "deep/er").documents.first?.path == "deep/er/a.zip.contents/in/side.txt")
    // The number of phrases is not known before they are read.
    let phrase = try await find("\"zeppelin 3\"", atMost: 1)
    #expect(phrase.documents.map(\.path) == ["deep/note 3.txt"] && phrase.count == nil && phrase.isComplete)
    // As many names as are wanted may be all.
    #expect(try await find("ote 5", atMost: 1).isComplete)
    #expect(try await find("ote", atMost: 7).isComplete)
    #expect(try await !find("ote", atMost: 6).isComplete)
    // Messages of a mailbox, and parts of names that are no words.
    let message = try #require(try await find("from:mary", in: "club.mbox").documents.first)
    #expect(message.isDirectory && message.kind == "mail" && message.title == "Pictures of the harbour")
    #expect(!message.sender.isEmpty && message.date != nil)
    #expect(try await find("ote 5.tx").documents.map(\.path) == ["deep/note 5.txt"])
    #expect(try await find("zepelin").similarWord == "zeppelin")
    #expect(try await find("zeppelin", from: 1_000_000).documents.isEmpty)
    await expectError(.unsupported, "") { () throws(FileTreeError) in
      _ = try await sample.tree.documents(matching: "size:big", from: 0, atMost: 1)
    }
    await expectError(.notADirectory, "deep/note 1.txt") { () throws(FileTreeError) in
      _ = try await sample.tree.documents(matching: "x", in: "deep/note 1.txt", from: 0, atMost: 1)
    }
  }

  /// The root has nothing beside it where results could be shown.
  @Test func searchOfRootCoversMailAndNames() async throws {
    let sample = try Sample()
    try sample.make(
      by: """
        import mailbox, email.message
        def letter(subject, text):
          m = email.message.EmailMessage()
          m['From'], m['Subject'], m['Date'] = 'a@example.org', subject, 'Wed, 01 May 2024 11:30:00 +0200'
          m.set_content(text)
          return m
        os.makedirs('deep/er')
        box = mailbox.mbox('deep/er/box.mbox')
        box.add(letter('One', 'about a zeppelin'))
        box.add(letter('Two', 'about nothing'))
        box.flush()
        maildir = mailbox.Maildir('Mail', create=True)
        maildir.add(letter('Three', 'another zeppelin'))
        maildir.flush()
        open('Zeppelin.txt', 'w').close()
        """)
    let found = try await sample.tree.search("zeppelin").all()
    #expect(found.filter { $0.kind == .directory }.count == 2)
    #expect(found.last?.path == "Zeppelin.txt")
    for entry in found.dropLast() {
      #expect(try await sample.tree.entries(of: entry.path).all().contains { $0.name == "body.txt" }, "\(entry.path)")
    }
    let messages = try await sample.tree.messages(matching: "zeppelin").all()
    #expect(Set(messages.map(\.subject)) == ["One", "Three"])
    #expect(try await sample.tree.messages(matching: "zeppelin", in: "deep").all().map(\.subject) == ["One"])
    #expect(sample.tree.activities.allSatisfy { $0.work != .converting })
    await expectError(.unsupported, "Zeppelin.txt") { () throws(FileTreeError) in
      for try await _ in sample.tree.messages(matching: "x", in: "Zeppelin.txt") {}
    }
  }

  @Test func directoryWithoutMailIsSearchedByName() async throws {
    let sample = try Sample("readme.txt")
    #expect(try await sample.tree.search("from:").all().isEmpty)
    #expect(try await sample.tree.search("READ me").all().map(\.path) == ["readme.txt"])
    await expectError(.unsupported, "") { () throws(FileTreeError) in
      for try await _ in sample.tree.messages(matching: "x") {}
    }
    await expectError(.notADirectory, "readme.txt") { () throws(FileTreeError) in
      for try await _ in sample.tree.search("x", in: "readme.txt") {}
    }
    await expectError(.notFound, "none") { () throws(FileTreeError) in
      for try await _ in sample.tree.search("x", in: "none") {}
    }
  }

  @Test func mailboxAsRootIsSearched() async throws {
    let sample = try Sample("club.mbox")
    let tree = try FileTree(at: FilePath(sample.path("club.mbox")))
    let message = try #require(try await tree.messages(matching: "from:mary").all().first)
    #expect(try await tree.entries(of: message.path).all().contains { $0.name == "attachments" })
    await tree.close()
  }

  @Test func incompleteCharacterIsOmitted() {
    let text = Array("Grüße €".utf8)
    #expect(FileTree.TextEncoding.utf8.text(of: text[...]) == "Grüße €")
    #expect(FileTree.TextEncoding.utf8.text(of: text.dropLast()) == nil)
    for encoding in [FileTree.TextEncoding.utf8, .detected] {
      #expect(encoding.text(of: text.dropLast(), isCut: true) == "Grüße ")
      #expect(encoding.text(of: text.prefix(3), isCut: true) == "Gr")
    }
    let wide: [UInt8] = [0xff, 0xfe, 0x3d, 0xd8, 0x00, 0xde]
    #expect(FileTree.TextEncoding.detected.text(of: wide[...]) == "😀")
    #expect(FileTree.TextEncoding.utf16.text(of: wide.dropLast(1), isCut: true) == "")
    #expect(FileTree.TextEncoding.utf16.text(of: wide.dropLast(2)) == nil)
  }
}
