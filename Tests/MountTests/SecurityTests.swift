import Foundation
import TestSupport
import Testing

/// Every promise of SECURITY.md is covered by a test.
@Suite struct SecurityTests {
  @Test func everySecurityPromiseCitesExistingTests() throws {
    let root = URL(fileURLWithPath: MountScratch.package)
    let text = try String(contentsOf: root.appendingPathComponent("SECURITY.md"), encoding: .utf8)
    let promised = text.matches(of: /\[([a-z][A-Za-z]+)\]/).map { String($0.output.1) }
    #expect(promised.count > 20)
    var tests: Set<String> = []
    let files = FileManager.default.enumerator(
      at: root.appendingPathComponent("Tests"), includingPropertiesForKeys: nil)
    for case let file as URL in files ?? .init() where file.pathExtension == "swift" {
      let source = try String(contentsOf: file, encoding: .utf8)
      // The first function after each `@Test`.
      for part in source.components(separatedBy: "@Test").dropFirst() {
        if let name = part.firstMatch(of: /func ([A-Za-z]+)\(/)?.output.1 { tests.insert(String(name)) }
      }
    }
    #expect(Set(promised).subtracting(tests).sorted() == [])
  }
}
