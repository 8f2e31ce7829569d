internal import Bytes
internal import Catalogue
internal import Jobs
internal import Tree

/// The contents of a directory of pages: `001.pdf` and so on, and any selection of pages by name.
struct PageFiles: DirectoryContents {
  /// The conversion that counts the pages and creates each.
  let conversion: Conversion
  let suffix: StaticString
  /// A value that differs between directories with other files.
  let mark: UInt64
  /// Returns the recipe of a selection. Returns `nil` if no file has it.
  let recipe: @Sendable (PageSelection) -> Recipe?

  var view: String { "pages" }
  var key: DirectoryKey { DirectoryKey(view, mark) }
  var job: Job.Work? { .count(verb: conversion.verb) }

  func files(of file: SourceState, _ conversions: Conversions, _ blocking: BlockingMode) throws(Fault) -> DerivedFiles {
    let count = Int(try conversions.renditions.count(conversion.verb, of: file.subject, blocking))
    return DerivedFiles(count: count) {
      name($0 + 1, of: count)
    } recipe: {
      selection($0).flatMap { $0.isThere(in: count) ? recipe($0) : nil }
    } number: {
      selection($0)?.page.map { $0 - 1 }
    }
  }

  private func selection(_ name: FileName) -> PageSelection? {
    name.dropping(suffix: suffix).flatMap { PageSelection(Substring($0.text)) }
  }

  /// Returns a name such as `001.pdf`, with as many digits as the last page has, and at least three.
  func name(_ number: Int, of count: Int) -> FileName {
    let digits = String(number)
    let zeros = max(3, String(count).utf8.count) - digits.utf8.count
    return FileName((String(repeating: "0", count: zeros) + digits).utf8).appending(suffix)
  }

  /// The unchanged pages of a PDF.
  static let copied = PageFiles(conversion: .pages, suffix: ".pdf", mark: 0) { .pages($0) }

  /// Returns the pages in a photo, cleaned.
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

extension PageSelection {
  /// Returns whether a document with `total` pages has all of them.
  fileprivate func isThere(in total: Int) -> Bool {
    runs.allSatisfy { $0.first <= total && ($0.last ?? total) <= total }
  }
}
