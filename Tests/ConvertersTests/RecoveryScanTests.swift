import Testing

@testable import Documents

/// The search for objects in a damaged document.
@Suite struct RecoveryScanTests {
  private func scan<Value>(_ text: String, _ body: (RecoveryScan) -> Value) -> Value {
    unsafe Array(text.utf8).withUnsafeBytes { bytes in
      var scan = unsafe RecoveryScan(bytes)
      scan.run()
      return body(scan)
    }
  }

  private func numbers(_ text: String) -> [Int32] { scan(text) { $0.places.keys.sorted() } }

  @Test(
    arguments: [
      ("1 0 obj<<>>endobj", [1]), ("12 0 obj 7 endobj 5 3 obj", [5, 12]), ("1\n0\r\nobj", [1]), ("junk1 0 obj", [1]),
      ("0 0 obj", []), ("-1 0 obj", [1]), ("1 obj", []), ("obj", []), (" 0 obj", []), ("16777216 0 obj", [1 << 24]),
      ("16777217 0 obj", []), ("99999999999 0 obj", []),
      ("12345678901234567890123456789012345678901234567890 0 obj", []),
      ("1 12345678901234567890123456789012345678901234567890 obj", []), ("1 99999999999 obj", []),
      ("1 2147483647 obj", [1]),
      ("1 0 obj<</A(2 0 obj)>>stream\n3 0 obj endstream 4 0 obj", [1, 2, 4]),
    ] as [(String, [Int32])])
  func objectsAreFoundByTheirNumbers(_ text: String, _ found: [Int32]) { #expect(numbers(text) == found) }

  @Test func lastObjectOfANumberCounts() {
    let text = "1 0 obj<</A 1>>endobj 2 0 obj<<>>endobj 1 0 obj<</A 2>>endobj"
    let place = scan(text) { scan in if case .byte(let place, _)? = scan.places[1] { place } else { -1 } }
    #expect(place == 40)
  }

  @Test func pagesAreListedOnceInOrder() {
    let pages = [3, 1, 2, 3, 1].map { "\($0) 0 obj<</Type/Page/N \($0)>>endobj " }.joined()
    #expect(scan(pages) { $0.pages.map(\.number) } == [3, 1, 2])
    #expect(scan("1 0 obj<</Type/Pages>>endobj 2 0 obj<</Kind/Page>>endobj") { $0.pages.isEmpty })
  }

  @Test func catalogIsThatOfTheTrailerIfItIsOne() {
    let catalogs = "1 0 obj<</Type/Catalog>>endobj 2 0 obj<</Type/Catalog>>endobj 3 0 obj<</Type/Pages>>endobj "
    func root(_ trailer: String) -> Int32? { scan(catalogs + trailer) { $0.root?.number } }
    #expect(root("") == 2 && root("trailer<</Root 1 0 R>>") == 1 && root("trailer<</Root 9 0 R>>") == 2)
    #expect(root("trailer<</Root 3 0 R>>") == 2 && root("trailer<</Root 2 0 R>> trailer<</Root 1 0 R>>") == 1)
    #expect(root("trailer<</Root 1 0 R>> trailer<</Size 9>>") == 1 && root("trailer<</Root 1 0 R") == 2)
  }

  @Test func deepAndEndlessDictionariesAreLeftOut() {
    let deep = String(repeating: "<</A", count: 65) + " 1" + String(repeating: ">>", count: 65)
    let flat = String(repeating: "<</A", count: 64) + " 1" + String(repeating: ">>", count: 64)
    func isPage(_ inner: String) -> Bool { scan("1 0 obj<</Type/Page/In \(inner)>>endobj") { !$0.pages.isEmpty } }
    #expect(isPage("1") && isPage(String(flat.dropFirst(4).dropLast(2))) && !isPage(deep))
    #expect(isPage("(a>>b\\)>>c(>>)d)") && !isPage("(") && isPage(String(repeating: " ", count: 60_000)))
    #expect(!isPage(String(repeating: " ", count: 1 << 16)))
  }
}
