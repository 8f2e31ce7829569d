import Assembly
import Bytes
import Files
import Glibc
import Testing

@testable import ffremote

/// Copies of whole files, of a server that does not send parts and gives prepared answers.
@Suite(.timeLimit(.minutes(5))) struct DownloadedFileTests {
  private static let tag = "\"old\""

  /// Returns the bytes of a copy of a file with the bytes `abcd`.
  private func copied(_ answers: PreparedWire.Answer...) throws -> String {
    let wire = PreparedWire(answers)
    let server = try RemoteServer(ServerAddress("http://host"), ServerInterface(), wire, MountOptions([]))
    defer { server.stop() }
    let opened = OpenedFile(tag: Self.tag, size: 4, modified: nil, head: Array("abcd".utf8), hasParts: false)
    let copy = DownloadedFile(FileRecord(Array("/a".utf8), server), opened, in: "/tmp")
    copy.start()
    let file = try copy.content.value(.blocking)
    var bytes = [UInt8](repeating: 0, count: 4)
    try unsafe bytes.withUnsafeMutableBytes { unsafe try file.read(into: $0, at: 0) }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let whole = PreparedWire.Answer("200 OK", tag: tag, "abcd")

  @Test func fileIsCopied() throws {
    #expect(try copied(Self.whole, "304 Not Modified") == "abcd")
    #expect(try copied(Self.whole, Self.whole) == "abcd")
  }

  /// A server may read a file that is being changed. Not all servers compare the tags of requests with theirs.
  @Test(arguments: [("\"new\"", "abcd"), (tag, "abce"), (tag, "abcde")])
  func fileThatChangesMeanwhileIsNotCopied(_ tag: String, _ bytes: String) throws {
    let fault = #expect(throws: Fault.self) {
      try copied(Self.whole, PreparedWire.Answer("200 OK", tag: tag, bytes))
    }
    #expect(fault?.kind == .system(ESTALE))
  }

  @Test(arguments: [(tag, "abcde"), (tag, "abc"), ("\"new\"", "abcd")])
  func otherVersionIsNotCopied(_ tag: String, _ bytes: String) throws {
    let fault = #expect(throws: Fault.self) { try copied(PreparedWire.Answer("200 OK", tag: tag, bytes)) }
    #expect(fault?.kind == .system(ESTALE))
  }
}
