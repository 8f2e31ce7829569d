import Foundation
import Testing

/// Articles quote exactly the code that the tests run.
struct TutorialTests {
  private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  private static let parsers = tests.appending(path: "../../Sources/Parsers").standardizedFileURL

  @Test(arguments: ["MailReading/MailReading.docc/ReadAMailbox", "ZipReading/ZipReading.docc/ReadAZip"])
  func tutorialsQuoteTestedCode(article: String) throws {
    let text = try String(contentsOf: Self.parsers.appending(path: "\(article).md"), encoding: .utf8)
    let name = try #require(article.split(separator: "/").last)
    let code = try Self.lines(String(contentsOf: Self.tests.appending(path: "\(name).swift"), encoding: .utf8))
    let quotes = text.components(separatedBy: "```swift\n").dropFirst().map {
      Self.lines($0.components(separatedBy: "```")[0])
    }
    #expect(quotes.count > 4)
    for quote in quotes where !Self.contains(code, quote) {
      Issue.record("\(name).swift lacks: \(quote.joined(separator: "\n"))")
    }
    // A function that no article quotes is no step of it.
    #expect(quotes.count == code.count { $0.contains("static func ") } + 1)
  }

  private static func lines(_ text: String) -> [Substring] { text.split(separator: "\n") }

  /// Whether `quote` is in `code` at one depth.
  private static func contains(_ code: [Substring], _ quote: [Substring]) -> Bool {
    ["", "    "].contains { indent in
      let wanted = quote.map { indent + $0 }
      return code.indices.contains { code[$0...].prefix(wanted.count).elementsEqual(wanted) { $0 == $1 } }
    }
  }
}
