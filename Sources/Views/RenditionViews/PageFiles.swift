internal import Bytes
internal import Catalogue

/// What the files in a folder of pages are.
struct PageFiles: Sendable {
  /// Counts the pages and makes each.
  let conversion: Conversion
  let suffix: StaticString
  /// Different for files that are made otherwise.
  let mark: UInt64
  /// nil for what no file has.
  let recipe: @Sendable (PageSelection) -> Recipe?

  /// `001.pdf`: as many digits as the last page has, and at least three.
  func name(_ number: Int, of count: Int) -> FileName {
    let digits = String(number)
    let zeros = max(3, String(count).utf8.count) - digits.utf8.count
    return FileName((String(repeating: "0", count: zeros) + digits).utf8).appending(suffix)
  }

  /// The pages of a PDF as they are.
  static let copied = PageFiles(conversion: .pages, suffix: ".pdf", mark: 0) { .pages($0) }

  /// The pages in a photo, cleaned.
  static func scanned(_ changes: ScanChanges) -> PageFiles {
    var hash = StableHash()
    hash.combine(changes.description.utf8)
    return PageFiles(conversion: .scannedPage, suffix: ".jpg", mark: hash.value) { selection in
      var changes = changes
      guard let page = selection.page, changes.choose(page: page) else { return nil }
      return Recipe(verb: Conversion.scannedPage.verb, changes)
    }
  }
}
