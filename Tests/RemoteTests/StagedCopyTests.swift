import Assembly
import Bytes
import Files
import Glibc
import Testing

@testable import ffremote

/// Local copies of files that are being written, with a server that gives prepared answers.
@Suite(.timeLimit(.minutes(5))) struct StagedCopyTests {
  private func server(_ answers: PreparedWire.Answer...) throws -> (RemoteServer, PreparedWire) {
    let wire = PreparedWire(answers)
    return (try RemoteServer(ServerAddress("http://host"), ServerInterface(), wire, MountOptions(["rw"])), wire)
  }

  private func copy(_ server: RemoteServer, _ path: String, tag: String?, isReserved: Bool = false) throws -> StagedCopy
  {
    try StagedCopy(TemporaryFile(in: "/tmp"), at: Array(path.utf8), server, tag: tag, isReserved: isReserved)
  }

  @Test func bytesAreSentOverTheVersionThatWasOpened() throws {
    let (server, wire) = try server("201 Created", "204 No Content", "204 No Content")
    let new = try copy(server, "/new", tag: nil)
    #expect(new.mustSend)
    try new.send()
    #expect(!new.mustSend && new.tag == "\"new\"")
    // Nothing has changed.
    try new.send()
    new.noteChange()
    try new.send()
    let old = try copy(server, "/old", tag: "\"old\"")
    #expect(!old.mustSend)
    try old.send()
    old.noteChange()
    try old.send()
    #expect(
      wire.lines == [
        "PUT /dav/new If-None-Match: *", "PUT /dav/new If-Match: \"new\"", "PUT /dav/old If-Match: \"old\"",
      ])
  }

  /// The name that was created for a file whose bytes the server refuses is removed when the file is closed.
  @Test(arguments: [false, true]) func refusedFileLeavesNoName(isReserved: Bool) async throws {
    let (server, wire) = try server("413 Too Large", "204 No Content")
    let copy = try copy(server, "/made", tag: isReserved ? "\"made\"" : nil, isReserved: isReserved)
    let open = try copy.open(accessMode: 2)
    #expect(throws: Fault.self) { try copy.send() }
    copy.close(accessMode: 2)
    // In the background.
    for _ in 0..<200 where isReserved && wire.lines.count < 2 { try await Task.sleep(for: .milliseconds(20)) }
    server.stop()
    #expect(
      Array(wire.lines.dropFirst()) == (isReserved ? ["DELETE /dav/made If-Match: \"made\""] : []), "\(wire.lines)")
    withExtendedLifetime(open) {}
  }

  /// The first of two requests may have arrived, or another client's.
  @Test(arguments: [("abcd", true), ("abce", false), ("ab", false), ("abcde", false)])
  func bytesThatAreThereHaveBeenSent(_ present: String, _ isSame: Bool) throws {
    let found = PreparedWire.Answer("200 OK", tag: "\"other\"", present)
    let (server, wire) = try server(.lost, "412 Precondition Failed", found)
    let file = try TemporaryFile(in: "/tmp")
    try unsafe Array("abcd".utf8).withUnsafeBytes { unsafe try file.write($0, at: 0) }
    let copy = StagedCopy(file, at: Array("/new".utf8), server, tag: nil)
    var fault: Fault?
    do throws(Fault) { try copy.send() } catch { fault = error }
    #expect(fault?.kind == (isSame ? nil : .system(ESTALE)) && copy.tag == (isSame ? "\"other\"" : nil))
    let put = "PUT /dav/new If-None-Match: *"
    #expect(wire.lines == [put, put, "GET /api/file?path=/new"])
  }

  @Test func removedFileIsNotSent() throws {
    let (server, wire) = try server()
    let copy = try copy(server, "/gone", tag: "\"old\"")
    let open = try copy.open(accessMode: 2)
    copy.noteChange()
    let isSent = try copy.remove { $0 }
    #expect(isSent && !copy.mustSend)
    try copy.send()
    copy.close(accessMode: 2)
    server.stop()
    #expect(wire.lines == [])
    withExtendedLifetime(open) {}
  }

  @Test func copiesAreFoundBelowTheirFolder() throws {
    let (server, _) = try server()
    let changes = try #require(server.changes)
    let paths = ["/a/x", "/a/b/z", "/ab/y", "/a"]
    let copies = try paths.map { path in
      try changes.stage(copy(server, path, tag: nil), at: Array(path.utf8))
    }
    func below(_ path: String) -> [String] {
      changes.staged(below: Array(path.utf8)).map { String(decoding: $0.path, as: UTF8.self) }.sorted()
    }
    #expect(below("/a") == ["/a/b/z", "/a/x"] && below("/a/b") == ["/a/b/z"] && below("/") == paths.sorted())
    #expect(below("/c") == [] && changes.staged(Array("/ab/y".utf8)) === copies[2])
  }
}
