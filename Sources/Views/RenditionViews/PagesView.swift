package import Bytes
internal import Catalogue
internal import Jobs
internal import Synchronization
package import Tree

/// `NAME.pages/`: the pages of a PDF, each as a file.
package struct PagesView: FolderView {
  package let name = "pages"
  package let listedExtensions: Set<FileExtension>
  package let possibleExtensions = Conversion.pages.listed.extensions
  private let listsUnnamed: Bool
  private let conversions: Conversions

  package static let suffix: StaticString = ".pages"

  package var descriptions: [ViewDescription] {
    let meaning = Conversion.pages.meaning
    return [ViewDescription(Self.spelling, listed: possibleExtensions, sources: meaning.sources, meaning.result)]
  }

  package init(listing: ViewListing, _ conversions: Conversions) {
    listedExtensions = listing.extensions(possibleExtensions)
    listsUnnamed = listedExtensions.contains("pdf")
    self.conversions = conversions
  }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool {
    listsUnnamed && Format.pdf.isSignature(head)
  }

  package func item(of source: Source, _ request: ViewRequest, _ patience: Patience) throws(Fault) -> Found? {
    let isNamed = source.item.knownHead == nil && source.isNamed(among: listedExtensions)
    if !isNamed, !source.isConcealed, !Format.pdf.isSignature(try source.head(patience)) { return nil }
    let folder = PageFolder(SourceState(source), conversions)
    return Found(folder, try folder.attributes(patience))
  }

  package func stop() { conversions.stop() }
}

/// The folder of a PDF's pages: `001.pdf` and so on; by name any selection of them.
final class PageFolder: MadeItem {
  let file: SourceState
  private let conversions: Conversions
  /// The single page that was opened last.
  private let lastOpened = Atomic<Int>(0)
  private static let view = "pages"

  var inode: UInt64 { file.inode(Self.mark) }
  var kind: Kind { .folder }
  var identity: UInt64 { Self.mark }
  var listsViews: Bool { false }

  /// Keeps clear of the numbers of other views of the file.
  private static let mark: UInt64 = 0x7061_6765 << 32

  package init(_ file: SourceState, _ conversions: Conversions) {
    self.file = file
    self.conversions = conversions
  }

  func attributes(_ patience: Patience) throws(Fault) -> Attributes {
    file.attributes.view(inode: inode, kind: .folder, size: 0)
  }

  private func count(_ patience: Patience) throws(Fault) -> Int {
    try conversions.known.load(patience)
    return Int(try conversions.renditions.countPages(of: file.subject, patience))
  }

  func child(named name: FileName, _ patience: Patience) throws(Fault) -> Found? {
    guard let stem = name.dropping(suffix: ".pdf"), let selection = PageSelection(Substring(stem.text)) else {
      return nil
    }
    let count = try count(patience)
    guard selection.isThere(in: count) else { return nil }
    let page = page(selection, of: count)
    return Found(page, try page.attributes(patience))
  }

  private func page(_ selection: PageSelection, of count: Int) -> RenditionFile {
    let number = selection.page
    return RenditionFile(
      file, .pages(selection), conversions, view: Self.view,
      estimate: Conversion.pages.size.estimate(fromFileOf: file.attributes.size)
    ) { [self] in
      if let number { prepare(after: number, of: count) }
    }
  }

  /// Has the next pages made for whoever goes from page to page.
  private func prepare(after page: Int, of count: Int) {
    guard lastOpened.exchange(page, ordering: .relaxed) == page - 1 else { return }
    for next in stride(from: page + 1, through: min(count, page + Self.ahead), by: 1) {
      conversions.renditions.prepare(.pages(PageSelection(page: next)), of: file.subject)
    }
  }

  private static let ahead = 2

  func listing(_ patience: Patience) throws(Fault) -> any Listing { PageListing(self, count: try count(patience)) }

  func provenance(_ patience: Patience) throws(Fault) -> Provenance? {
    var provenance = file.provenance(
      view: Self.view, conversions.renditions.failure(of: .countPages, inState: file.revision))
    try provenance.adopt(file.source.item.provenance(patience))
    return provenance
  }

  private final class PageListing: Listing {
    private let folder: PageFolder
    private let count: Int
    private static let blockSize = 256

    init(_ folder: PageFolder, count: Int) {
      self.folder = folder
      self.count = count
    }

    func entries(after place: Int64, _ patience: Patience) throws(Fault) -> [ListedEntry] {
      guard place >= 0, place < count else { return [] }
      let width = max(3, String(count).utf8.count)
      return (Int(place) + 1...min(count, Int(place) + Self.blockSize)).map { number in
        let digits = String(number)
        let name = FileName(String(repeating: "0", count: width - digits.utf8.count) + digits + ".pdf")
        let page = folder.page(PageSelection(page: number), of: count)
        return ListedEntry(name: ListedName(name), inode: page.inode, kind: .file, next: Int64(number))
      }
    }
  }
}

extension PageSelection {
  /// The page, if it is a single one.
  fileprivate var page: Int? { runs.count == 1 && runs[0].first == runs[0].last ? runs[0].first : nil }

  /// Whether a document with `total` pages has all of them.
  fileprivate func isThere(in total: Int) -> Bool {
    runs.allSatisfy { $0.first <= total && ($0.last ?? total) <= total }
  }
}
