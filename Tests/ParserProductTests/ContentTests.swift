import Foundation
import MailReading
import Testing
import ZipReading

/// How bytes come in, whatever they are.
struct ContentTests {
  private struct Lost: Error, CustomStringConvertible { let description = "no connection" }

  @Test func fileContentIsReadConcurrently() async throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "content-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: path) }
    let bytes = (0..<1_000_003).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let content = try Content(at: path)
    #expect(content.size == Int64(bytes.count))
    await withTaskGroup { group in
      for size in [1 << 10, 4093, 1 << 20, Int.max] {
        group.addTask {
          var chunks = content.chunks(of: size)
          var all: [UInt8] = []
          while let chunk = try? chunks.next() {
            #expect(chunk.count <= size)
            all += chunk
          }
          #expect(all == bytes)
        }
      }
    }
    try Data(bytes.dropLast()).write(to: URL(fileURLWithPath: path), options: .atomic)
    // Written beside it and renamed: the open file is as it was.
    #expect(try content.bytes() == bytes)
    let opened = try Content(at: path)
    let handle = try #require(FileHandle(forWritingAtPath: path))
    try handle.truncate(atOffset: 7)
    #expect(code { try opened.bytes() } == .changed)
  }

  @Test func contentAcceptsBytesOfTheCaller() throws {
    try MadeFiles.with { made in
      let bytes = try Array(Data(contentsOf: URL(fileURLWithPath: made.archive)))
      let given = Content(size: Int64(bytes.count)) { range in
        Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
      }
      #expect(try ZipReader(given).members.map(\.path) == ZipReader(at: made.archive).members.map(\.path))
    }
  }

  @Test func sourceErrorsArePropagated() {
    let lost = Content(size: 100) { _ in throw Lost() }
    #expect(code { try lost.bytes() } == .source)
    #expect(throws: ReadingError.self) { try lost.bytes() }
    do { _ = try lost.bytes() } catch { #expect(error.description == "no connection (at byte 0)") }
    let short = Content(size: 100) { _ in [1, 2, 3] }
    #expect(code { try short.bytes() } == .damaged)
    #expect(code { try ZipReader(lost) } == .source)
    let none = Content(size: -5) { _ in [] }
    #expect(none.size == 0)
    let inner = Content(size: 9) { _ in try Content([1]).bytes(limit: 0) }
    #expect(code { try inner.bytes() } == .tooLarge)
  }

  @Test func systemErrorsAreReported() {
    do { _ = try Content(at: "/none/at/all") } catch {
      #expect(error.code == .system && error.systemError == ENOENT)
    }
  }
}
