import Bytes
import ServerAnswers
import Testing

@testable import Fuzzing

/// What a server says, which may be anything.
@Suite struct JSONReaderTests {
  private func items(_ text: String) throws -> [ServerItem] { try ServerAnswer.listing(Array(text.utf8)) }

  @Test func serverListingIsParsed() throws {
    let found = try items(
      #"""
      {"path": "/", "absolutePath": "/srv", "items": [
       {"name": "a\u00e9\ud83d\ude00\"\n", "type": "file", "size": 12, "modified": "2024-02-29T12:34:56.789Z", "x": [{}]},
       {"name": "as", "type": "file", "size": null, "estimate": 0, "modified": "1969-12-31T23:59:59.000Z", "view": "as-png"},
       {"name": "d", "type": "directory", "size": null, "modified": "0001-01-01T00:00:00.000Z", "extension": null},
       {"name": "l", "type": "file", "size": 3, "modified": "2024-02-29T12:34:56.789Z", "link": "../x",
         "linkModified": "1969-12-31T23:59:59.000Z"},
       {"name": "p", "type": "other", "special": "fifo", "modified": "9999-12-31T23:59:59.999Z"},
       {"name": "\ufffd", "encodedPath": "/q/%ff%2e", "type": "file", "size": 1, "modified": "x"}]}
      """#)
    #expect(found.map { Array($0.name.bytes) }.first == Array("aé😀\"\n".utf8))
    #expect(found.map(\.kind) == [.file, .file, .folder, .link, .fifo, .file])
    #expect(found[0].size == .exact(12))
    #expect(found[0].modified == Timestamp(seconds: 1_709_210_096, nanoseconds: 789_000_000))
    #expect(found[1].size == .estimate(1) && found[1].view == "as-png" && found[1].modified.seconds == -1)
    #expect(found[2].modified.seconds == -62_135_596_800)
    #expect(found[3].target == Array("../x".utf8) && found[3].size == .exact(4))
    // Of the link, and not of the file to which it leads.
    #expect(found[3].modified.seconds == -1)
    #expect(found[4].modified == Timestamp(seconds: 253_402_300_799, nanoseconds: 999_000_000))
    #expect(Array(found[5].name.bytes) == [0xff, UInt8(ascii: ".")] && found[5].modified.seconds == 0)
  }

  @Test(arguments: [
    "", ".", "..", "a/b", "/", "a\\u0000b", String(repeating: "x", count: 256),
  ]) func invalidEntryNamesAreOmitted(_ name: String) throws {
    let rows = #"{"items":[{"name":"\#(name)","type":"file","size":1},{"name":"b","type":"file","size":1}]}"#
    #expect(try items(rows).map(\.name) == ["b"])
  }

  @Test func encodedNamesAndLinksAreValidated() throws {
    for path in ["/a%2fb", "/%2e%2e", "/%00", "/", "/%zz"] {
      #expect(try items(#"{"items":[{"name":"x","encodedPath":"\#(path)","type":"file"}]}"#).isEmpty, "\(path)")
    }
    let long = String(repeating: "l", count: 4096)
    for link in ["", "a\\u0000", long] {
      #expect(try items(#"{"items":[{"name":"x","type":"file","link":"\#(link)"}]}"#).isEmpty)
    }
  }

  @Test func sizesAreBoundedAndNamesAreUnique() throws {
    let found = try items(
      #"{"items":[{"name":"a","type":"file","size":-5},{"name":"a","type":"directory"},"#
        + #"{"name":"b","type":"file","size":9999999999999999999999},{"name":"c","type":"file","size":1e9},"#
        + #"{"name":"d","type":"file","size":999999999999999999}]}"#)
    #expect(found.map(\.name) == ["a", "b", "c", "d"])
    #expect(found.map(\.size) == [.estimate(1), .estimate(1), .estimate(1), .estimate(1)])
  }

  @Test(arguments: [
    "", "{", "[]", "nul", "{\"items\":[}", "{\"items\":[{\"name\":\"a\"", "{\"items\":[]} x", "{\"items\":{}}",
    "{\"items\":[{\"name\":\"\\ud800\"}]}", "{\"items\":[{\"name\":\"\\uzzzz\"}]}", "{\"items\":[{\"name\":\"\\q\"}]}",
    "{\"items\":[{\"name\":\"a\u{1}b\"}]}", "{\"items\":[{\"size\":--1}]}", "{\"items\":[{\"size\":true}]}",
  ]) func malformedResponsesThrow(_ text: String) {
    #expect(throws: Fault.self) { try items(text) }
  }

  /// A response can end at any byte, also where a number is expected.
  @Test func truncatedResponsesThrow() throws {
    let whole = #"{"x":-1,"items":[{"size":12,"name":"a","type":"file","estimate":-3,"y":[1,{"z":null}]}]}"#
    #expect(try items(whole).count == 1)
    for count in 0..<whole.utf8.count {
      #expect(throws: Fault.self) { try items(String(whole.prefix(count))) }
    }
  }

  @Test func jsonDepthIsBounded() {
    for deep in ["{\"a\":", "["] {
      let text = "{\"a\":" + String(repeating: deep, count: 100_000)
      #expect(throws: Fault.self) { try items(text) }
    }
  }

  @Test func responseThatIsNotUTF8Throws() {
    let bytes = Array(#"{"items":[{"name":""#.utf8) + [0xc3, 0x28] + Array(#""}]}"#.utf8)
    #expect(throws: Fault.self) { try ServerAnswer.listing(bytes) }
  }

  /// Whatever changes in a response, it is read by its rules or refused.
  @Test func mutatedResponsesAreReadOrRefused() {
    let complaints = FuzzTarget.answers.complaints(ofMutations: 10_000, seed: 46)
    #expect(complaints.isEmpty, "\(complaints)")
  }

  @Test func serverErrorsAreReducedToOneLine() {
    let said = ServerAnswer.sentence(Array(#"{"title":"x","detail":"a\nb\u0007c"}"#.utf8))
    #expect(said == "a b c")
    #expect(ServerAnswer.sentence(Array("<html>".utf8)) == nil)
  }

  @Test func httpTimesAreParsed() {
    #expect(HTTPTime.seconds(Array("Sun, 06 Nov 1994 08:49:37 GMT".utf8)) == 784_111_777)
    #expect(HTTPTime.seconds(Array("Thu, 01 Jan 1970 00:00:00 GMT".utf8)) == 0)
    #expect(HTTPTime.seconds(Array("Thu, 01 Foo 1970 00:00:00 GMT".utf8)) == nil)
  }
}
