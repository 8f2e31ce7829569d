import Bytes
import ServerAnswers
import Testing

/// The descriptions of single items.
@Suite struct ServerItemTests {
  private func item(_ members: String) throws -> ServerItem {
    let text = "{\"path\":\"/a\",\"name\":\"a\",\"type\":\"file\",\"modified\":\"2026-01-01T00:00:00.000Z\",\(members)}"
    return try ServerAnswer.item(Array(text.utf8), named: "a")
  }

  @Test func bytesAreToldApartByTheirTag() {
    var item = ServerItem()
    item.modified = Timestamp(seconds: 7)
    #expect(item.changed == item.modified)
    var changes: [Timestamp] = []
    for tag in ["5-6", "5-7", "5-6"] {
      item.tag = tag
      changes.append(item.changed)
    }
    #expect(changes[0] != changes[1] && changes[0] == changes[2])
    #expect(changes.allSatisfy { $0.seconds == 7 && (1..<1_000_000_000).contains($0.nanoseconds) })
  }

  @Test func bytesOfASmallFileArriveWithItsAttributes() throws {
    let content = try item("\"size\":3,\"tag\":\"\\\"t1\\\"\",\"content\":\"YWJj\"").content
    #expect(content?.bytes == Array("abc".utf8))
    #expect(content?.tag == "\"t1\"")
    #expect(try item("\"size\":0,\"tag\":\"\\\"t1\\\"\",\"content\":\"\"").content?.bytes == [])
  }

  /// Bytes that are not exactly the file's, or a tag that is not one, are not used.
  @Test(arguments: [
    "\"size\":4,\"tag\":\"\\\"t\\\"\",\"content\":\"YWJj\"", "\"size\":3,\"tag\":\"\\\"t\\\"\",\"content\":\"YW*j\"",
    "\"size\":3,\"tag\":\"t\",\"content\":\"YWJj\"", "\"size\":3,\"content\":\"YWJj\"",
    "\"size\":3,\"tag\":\"\\\"t\\r\\nX: y\\\"\",\"content\":\"YWJj\"",
    "\"size\":3,\"tag\":\"W/\\\"t\\\"\",\"content\":\"YWJj\"",
    "\"estimate\":3,\"tag\":\"\\\"t\\\"\",\"content\":\"YWJj\"", "\"size\":3,\"tag\":\"\\\"t\\\"\"",
  ])
  func invalidBytesAreNotUsed(_ members: String) throws {
    let found = try item(members)
    #expect(found.content == nil)
    #expect(found.kind == .file)
  }
}

/// The data of the events of a server.
@Suite struct ServerEventTests {
  @Test func eventHasThePathOfAFolder() {
    #expect(ServerAnswer.path(ofEvent: Array("{\"path\":\"/a \\u00e4\"}".utf8)) == Array("/a ä".utf8))
    let encoded = Array("{\"path\":\"/\u{fffd}\",\"encodedPath\":\"/%FF\"}".utf8)
    #expect(ServerAnswer.path(ofEvent: encoded) == [0x2f, 0xff])
    for text in ["", "{", "[]", "{\"path\":1}", "{}"] { #expect(ServerAnswer.path(ofEvent: Array(text.utf8)) == nil) }
  }
}
