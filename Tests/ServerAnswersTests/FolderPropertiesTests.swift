import Bytes
import ServerAnswers
import Testing

struct FolderPropertiesTests {
  private func response(_ href: String, _ properties: String, status: String = "HTTP/1.1 200 OK") -> String {
    "<D:response><D:href>\(href)</D:href><D:propstat><D:prop>\(properties)</D:prop><D:status>\(status)</D:status>"
      + "</D:propstat></D:response>"
  }

  private let folder = "<D:resourcetype><D:collection/></D:resourcetype>"

  private func parsed(_ responses: [String], at path: String = "/pub/a%20b/") throws -> FolderProperties {
    let page =
      "<?xml version=\"1.0\"?><D:multistatus xmlns:D=\"DAV:\">" + responses.joined(separator: "\n")
      + "</D:multistatus>"
    return try FolderProperties(Array(page.utf8), at: Array(path.utf8))
  }

  private func names(_ found: FolderProperties) -> [String] {
    found.entries.map { String(decoding: $0.name.bytes, as: UTF8.self) + ($0.kind == .folder ? "/" : "") }
  }

  @Test func attributesOfEntriesAreRead() throws {
    let time = "<D:getlastmodified>Sun, 06 Nov 1994 08:49:37 GMT</D:getlastmodified>"
    let found = try parsed([
      response("/pub/a%20b/", folder + time),
      response(
        "http://host:80/pub/a%20b/x%26%C3%A4.zip",
        "<D:getcontentlength> 1234 </D:getcontentlength><D:getetag>&quot;5-6&quot;</D:getetag><D:resourcetype/>" + time),
      response("/pub/a b/deeper/", folder),
      response("/pub/a%20b/unknown", "<D:resourcetype/><D:getetag>W/\"weak\"</D:getetag>"),
    ])
    #expect(found.folder?.kind == .folder)
    #expect(found.folder?.modified == Timestamp(seconds: 784_111_777))
    #expect(names(found) == ["x&ä.zip", "deeper/", "unknown"])
    #expect(found.entries[0].size == .exact(1234))
    #expect(found.entries[0].tag == "\"5-6\"")
    #expect(found.entries[0].modified == Timestamp(seconds: 784_111_777))
    #expect(found.entries[2].size == .estimate(1))
    #expect(found.entries[2].tag == "\"weak\"")
  }

  /// A `propstat` of another status names properties that the item lacks.
  @Test func missingPropertiesAreNotRead() throws {
    let both =
      "<D:response><D:href>/f/x</D:href><D:propstat><D:status>HTTP/1.1 404 Not Found</D:status><D:prop>"
      + "<D:getcontentlength>7</D:getcontentlength></D:prop></D:propstat><D:propstat><D:prop><D:resourcetype/></D:prop>"
      + "<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>"
    let found = try parsed([response("/f/", folder), both], at: "/f/")
    #expect(names(found) == ["x"])
    #expect(found.entries[0].size == .estimate(1) && found.entries[0].failure == nil)
  }

  /// A status in place of properties is the item's: it exists unless the status says otherwise.
  @Test func itemsWithoutPropertiesFail() throws {
    func failed(_ name: String, _ status: String) -> String {
      "<D:response><D:href>/f/\(name)</D:href><D:status>\(status)</D:status></D:response>"
    }
    let found = try parsed(
      [
        response("/f/", folder), failed("a", "HTTP/1.1 403 Forbidden"), failed("b", "HTTP/1.1 404 Not Found"),
        failed("c", "HTTP/1.1 410 Gone"), failed("d", "HTTP/1.1 500 Internal Server Error"), failed("e", "500"),
        failed("f", "HTTP/1.1 200 OK"), failed("", "HTTP/1.1 500 No"), response("/f/g", "<D:resourcetype/>"),
      ], at: "/f/")
    #expect(found.folder?.kind == .folder && names(found) == ["a", "d", "g"])
    #expect(found.entries.map { $0.failure?.contains("status") ?? false } == [true, true, false])
  }

  /// A redirected folder has other paths than the requested ones.
  @Test func folderOfAnotherPathIsTheShortestOne() throws {
    let found = try parsed([response("/v2/x", "<D:resourcetype/>"), response("/v2/", folder)], at: "/latest/")
    #expect(names(found) == ["x"])
    // An only entry is not the folder.
    let alone = try parsed([response("/latest/x/", folder)], at: "/latest/")
    #expect(names(alone) == ["x/"] && alone.folder == nil)
  }

  @Test(arguments: [
    "/f/../x", "/f/%2e%2e", "/f/.", "/f/a%00b", "/f/a/b", "/g/x", "x", "mailto:x", "/f/%zz", "", "//evil/f/x",
  ])
  func otherPathsAreNotEntries(href: String) throws {
    #expect(names(try parsed([response("/f/", folder), response(href, "<D:resourcetype/>")], at: "/f/")) == [])
  }

  @Test(arguments: [
    "", "x", "<html/>", "<multistatus/>", "<D:multistatus xmlns:D=\"DAV:\">",
    "<!DOCTYPE a [<!ENTITY b \"c\">]><a>&b;</a>",
    "<D:multistatus xmlns:D=\"DAV:\"><D:response></D:multistatus>",
  ])
  func otherAnswersAreRefused(page: String) {
    #expect(throws: Fault.self) { try FolderProperties(Array(page.utf8), at: Array("/".utf8)) }
  }

  @Test(arguments: ["-1", "99999999999999999999", "1e3", "x"])
  func badSizesAreUnknown(size: String) throws {
    let file = response("/f/x", "<D:resourcetype/><D:getcontentlength>\(size)</D:getcontentlength>")
    #expect(try parsed([file], at: "/f/").entries.first?.size == .estimate(1))
  }
}
