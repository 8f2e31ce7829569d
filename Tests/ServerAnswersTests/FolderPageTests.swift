import Bytes
import ServerAnswers
import Testing

struct FolderPageTests {
  private func entries(_ page: String, at path: String = "/pub/a%20b/") throws -> [String] {
    try FolderPage.entries(of: Array(page.utf8), at: Array(path.utf8)).map { item in
      String(decoding: item.name.bytes, as: UTF8.self) + (item.kind == .folder ? "/" : "")
    }
  }

  /// Apache has links that sort, and absolute links to the parent.
  @Test func pageOfApacheIsRead() throws {
    let page = """
      <html><head><title>Index of /pub/a b</title></head><body><h1>Index of /pub/a b</h1><table>
      <tr><th><a href="?C=N;O=D">Name</a></th><th><a href="?C=M;O=A">Last modified</a></th></tr>
      <tr><td><a href="/pub/">Parent Directory</a></td></tr>
      <tr><td><a href="x%26y.zip">x&amp;y.zip</a></td><td>2024-01-01 10:00</td><td>1.2K</td></tr>
      <tr><td><a href="deeper/">deeper/</a></td></tr></table></body></html>
      """
    #expect(FolderPage.isListing(Array(page.utf8)))
    #expect(try entries(page) == ["x&y.zip", "deeper/"])
  }

  @Test func absoluteLinksBelowTheFolderAreEntries() throws {
    #expect(try entries("<A HREF='/pub/a%20b/one'>1</A><a href=\"/pub/a%20b/two/\">") == ["one", "two/"])
  }

  @Test(arguments: [
    "../", "./", ".", "..", "/", "", "/etc/passwd", "http://other/x", "//other/x", "a/b", "a%2Fb", "%2e%2e", "%2e%2e/",
    "a%00b", "x?y", "#top", "%zz", "mailto:a/b", "x//",
  ])
  func otherLinksAreNotEntries(link: String) throws { #expect(try entries("<a href=\"\(link)\">") == []) }

  @Test(arguments: ["<a href=", "<a href=\"x", "href", "<a href='", "<a href=x>"])
  func brokenPagesHaveNoEntries(page: String) throws { #expect(try entries(page) == []) }

  /// A listing is never cut without an error.
  @Test func tooManyLinksAreRefused() {
    let page = (0...ServerAnswer.mostItems).map { "<a href=\"f\($0)\">" }.joined()
    #expect(throws: ServerAnswer.tooManyItems) { try entries(page) }
  }

  @Test func otherPagesAreNotListings() { #expect(!FolderPage.isListing(Array("<title>My index</title>".utf8))) }
}
