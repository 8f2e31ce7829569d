import Bytes
import Files
import Glibc
import Index
import Mail
import TestSupport
import Testing

@testable import Fuzzing
@testable import MailViews
@testable import Tree

/// What an index says of a folder of message files, which anybody may have written.
@Suite(.timeLimit(.minutes(5))) struct MailFolderRecordTests {
  private static let names = (0..<6).map { "\(1_700_000_000 + $0).M\($0)P1.host:2,S" }

  /// A Maildir and an index of it.
  private func withMaildir(_ body: (SourceFolder, Index) throws -> Void) throws {
    let source = try SourceFolder()
    let cache = try SourceFolder()
    for part in ["", "/cur", "/new", "/tmp"] { try #require(unsafe mkdir("\(source.path)/Maildir\(part)", 0o700) == 0) }
    for (number, name) in Self.names.enumerated() {
      let message = "From: n@example.com\nMessage-ID: <\(number)@x>\nSubject: letter \(number)\n\nbody \(number)\n"
      try source.write(FileName("Maildir/cur/" + name), message)
    }
    let index = Index(folder: cache.path)
    defer { index.finish(within: .seconds(2)) }
    _ = try subjects(source, index)
    try body(source, index)
  }

  /// The subjects and the texts of all messages, as views show them; a fault is one of them.
  private func subjects(_ source: SourceFolder, _ index: Index) throws -> [String] {
    let indexing = Indexing(index: index)
    defer { indexing.stop() }
    let root = try RealRoot(
      Descriptor.open(path: source.path + "/Maildir", for: .place), pool: DescriptorPool(capacity: 32))
    let messages = try #require(try indexing.search(folder: root, named: "Maildir")?.mailbox)
    index.flush(within: .seconds(2))
    return try messages.rows(ofBlock: 0, .blocking).enumerated().map { position, row in
      var text = "fault"
      if let message = try? messages.messageIfReadable(row, at: position), let header = try? message.headersText() {
        text = String(String(decoding: header, as: UTF8.self).suffix(9))
      }
      return row.subject + text
    }
  }

  private func source(of folder: SourceFolder) throws -> [UInt8] {
    let root = try RealRoot(Descriptor.open(path: folder.path, for: .place), pool: DescriptorPool(capacity: 8))
    let status = try RealFolder(root: root).status(of: "Maildir")
    return IndexedFile.prefix(device: status.device, inode: status.inode)
  }

  @Test func invalidMailDirectoryRecordsAreIgnored() throws {
    try withMaildir { folder, index in
      let truth = try subjects(folder, index)
      #expect(truth == (0..<6).map { "letter \($0)letter \($0)\n" })
      let source = try source(of: folder)
      let records = index.records(of: source, FolderStore.kind, from: [0], through: [4])
      #expect(records.count >= 4)
      var numbers = SeededNumbers(seed: 1)
      for round in 0..<60 {
        let record = records[round % records.count]
        var value = record.value
        switch round / records.count % 5 {
        case 0: value = Array(value.prefix(Int(numbers.next() % UInt64(max(1, value.count)))))
        case 1: value += [UInt8](bigEndian: numbers.next())
        case 2: value = Array(value.prefix(8)) + Array(repeating: 0xff, count: max(0, value.count - 8))
        case 3: value = Array(repeating: UInt8(truncatingIfNeeded: round), count: value.count)
        default:
          value =
            Array(value.prefix(8))
            + (0..<max(0, value.count - 8)).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }
        }
        index.store([IndexRecord(key: record.key, value: value)], FolderStore.kind, of: source)
        index.flush(within: .seconds(2))
        #expect(try subjects(folder, index) == truth, "round \(round), key \(record.key)")
        // What is made anew is right.
        index.store(records, FolderStore.kind, of: source)
      }
    }
  }

  /// Attachments are read from the folders that a listing has, whatever the numbers of the messages are.
  @Test func messagesWithFilesHaveTheirListedNames() throws {
    let source = try SourceFolder()
    let cache = try SourceFolder()
    func mail(_ number: Int, hasFile: Bool) -> String {
      let file = hasFile ? "--b\nContent-Disposition: attachment; filename=a.txt\n\nfile\n" : ""
      return "From n@example.com Wed May  1 10:00:00 2024\nFrom: n@example.com\nSubject: letter \(number)\n"
        + "Content-Type: multipart/mixed; boundary=b\n\n--b\n\nbody\n\(file)--b--\n\n"
    }
    let index = Index(folder: cache.path)
    defer { index.finish(within: .seconds(2)) }
    let root = try RealRoot(Descriptor.open(path: source.path, for: .place), pool: DescriptorPool(capacity: 32))
    func shown(_ letters: [Int]) throws -> [String] {
      try source.write("in.mbox", letters.map { mail($0, hasFile: $0 % 3 != 1) }.joined())
      let indexing = Indexing(index: index)
      defer { indexing.stop() }
      let search = try #require(try indexing.search("in.mbox", in: root))
      var names: [String] = []
      try indexing.forEachMessageWithFiles(of: search) { names.append($0.text) }
      let rows = try search.mailbox.rows(ofBlock: 0, .blocking)
      let listed = try rows.enumerated().map { position, row in
        try search.mailbox.folderName(of: row, at: position, .blocking).text
      }
      #expect(names == listed.indices.filter { letters[$0] % 3 != 1 }.map { listed[$0] })
      return names
    }
    #expect(try shown(Array(0..<7)).count == 5)
    // The numbers stay, and are no positions any more.
    #expect(try shown([2, 3, 4, 6]).count == 3)
  }

  @Test func falsifiedRowsReadNoOtherBytes() throws {
    try withMaildir { folder, index in
      let source = try source(of: folder)
      let head = try #require(index.value(of: source, FolderStore.kind, [0]))
      let numbers: [Int64] = [0, 1, 7, 1 << 20, Bounds.largestSize]
      for start in numbers {
        for size in numbers where Bounds.holds(start + size) {
          var value = Array(head.prefix(8))
          for _ in Self.names {
            var row = MessageRow(separator: 0, start: start, end: start + size)
            row.subject = "lie"
            row.append(to: &value)
          }
          index.store(
            [IndexRecord(key: [2] + [UInt8](bigEndian: UInt64(0)), value: value)], FolderStore.kind, of: source)
          index.flush(within: .seconds(2))
          let shown = try subjects(folder, index)
          #expect(shown.count == 6 && shown.allSatisfy { $0.hasPrefix("lie") }, "\(start) \(size): \(shown)")
        }
      }
    }
  }
}
