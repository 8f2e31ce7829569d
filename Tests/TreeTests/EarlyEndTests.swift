import Bytes
import Fuzzing
import TestSupport
import Testing
import Tree
import Unpacking

/// Views of bytes that end too early.
@Suite(.timeLimit(.minutes(5))) struct EarlyEndTests {
  /// A gzip file that is cut off after its first blocks.
  private static func cut(_ content: String) -> [UInt8] {
    let data = Array(content.utf8)
    var bytes: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]
    var place = 0
    while place < data.count {
      let block = data[place..<min(data.count, place + 60_000)]
      bytes += [0] + [UInt8](littleEndian: UInt16(block.count)) + [UInt8](littleEndian: ~UInt16(block.count)) + block
      place += block.count
    }
    return bytes
  }

  private static let table = String(repeating: "row,value\n", count: 9000)
  private static let mail = "From: a@example.com\nSubject: S\n\n" + table
  private static let card = "BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\nUID:1\nSUMMARY:One\nEND:VEVENT\n"

  @Test func readerOfAllBytesGetsFault() throws {
    let fault = Fault(.damaged, "is cut")
    let source = EarlyEnd(ByteArraySource(Array("some bytes".utf8)), fault)
    #expect(try source.partialBytes(at: 0, count: 100) == Array("some bytes".utf8))
    #expect(throws: fault) { _ = try source.partialBytes(at: 10, count: 1) }
    #expect(throws: Fault.self) { _ = try source.bytes(at: 0, count: Int(source.size)) }
    #expect(source.available.size == 10 && source.earlyEnd?.fault == fault)
  }

  @Test func viewsOfCutFileEndWithError() async throws {
    try await offThread {
      Result {
        let source = try SourceFolder()
        let small = "row,value\n"
        let json = "[" + String(repeating: "{\"k\":1},", count: 9000)
        let files = [
          ("t.csv", Self.table), ("s.csv", small), ("empty.csv", ""), ("j.json", json), ("l.eml", Self.mail),
          ("c.ics", Self.card),
        ]
        for (name, content) in files { try source.write(FileName("\(name).gz"), Self.cut(content)) }
        let tree = try TreeInProcess(source)
        defer { tree.tree.stop() }
        let views = [
          "t.csv.gz.contents/t.csv.as-txt", "t.csv.gz.contents/t.csv.as-html", "s.csv.gz.contents/s.csv.as-txt",
          "empty.csv.gz.contents/empty.csv.as-txt", "j.json.gz.contents/j.json.as-txt",
          "l.eml.gz.contents/l.eml.message/body.txt", "l.eml.gz.contents/l.eml.message/message.eml",
          "c.ics.gz.contents/c.ics.as-txt",
        ]
        for view in views {
          do {
            let bytes = try tree.readAll(FileName(view))
            Issue.record("\(view) ends after \(bytes.count) bytes without an error")
          } catch let error as FileTreeError { #expect(error.errno == 5, "\(view)") }
        }
        // Programs that read as many bytes as the size says reach the end.
        #expect(try tree.stat(FileName("s.csv.gz.contents/s.csv")).size == Int64(small.utf8.count) + 1)
        // The entries before the cut are shown, and the folder tells of it.
        let folder = "c.ics.gz.contents/c.ics.contents"
        #expect(try !tree.list(FileName(folder)).isEmpty)
        #expect(try tree.attribute(FileName(folder), "user.ffmount.state") == Array("failed".utf8))
      }
    }.get()
  }

  /// The last message of a mailbox that breaks off is listed, and every listing of its messages ends with an error.
  @Test func listingsOfCutMailboxEndWithError() async throws {
    try await offThread {
      Result {
        let source = try SourceFolder()
        let mail = "From a Mon Jan  1 00:00:01 2024\nFrom: A <a@example.com>\nSubject: Words\n\nText\n"
        try source.write(FileName("c.mbox.gz"), Self.cut(mail))
        let tree = try TreeInProcess(source)
        defer { tree.tree.stop() }
        let folders = [
          "c.mbox.gz.messages", "c.mbox.gz.views/by-sender", "c.mbox.gz.views/by-sender/a@example.com",
          "c.mbox.gz.views/search/words",
        ]
        for folder in folders {
          #expect(throws: FileTreeError.self, "\(folder)") { _ = try tree.list(FileName(folder)) }
        }
        let message = "c.mbox.gz.views/search/words/000001 2024-01-01 A - Words"
        #expect(try tree.stat(FileName(message)).kind == .folder)
      }
    }.get()
  }
}
