internal import Bytes
internal import Catalogue
internal import Jobs
internal import Synchronization
internal import Tree

/// The folder of a file's pages: `001.pdf` and so on; by name any selection of them.
final class PageFolder: MadeItem {
  let file: SourceState
  private let pages: PageFiles
  private let conversions: Conversions
  /// The single page that was opened last.
  private let lastOpened = Atomic<Int>(0)
  private static let view = "pages"

  let inode: UInt64
  let identity: UInt64
  var kind: Kind { .folder }
  var listsViews: Bool { false }

  /// Keeps clear of the numbers of other views of the file.
  private static let mark: UInt64 = 0x7061_6765 << 32

  init(_ file: SourceState, _ pages: PageFiles, _ conversions: Conversions) {
    self.file = file
    self.pages = pages
    self.conversions = conversions
    identity = StableHash(seed: Self.mark).adding(pages.mark).value
    inode = file.inode(Self.mark, pages.mark)
  }

  private var counting: Job.Work { .count(verb: pages.conversion.verb) }

  func attributes(_ patience: Patience) throws(Fault) -> Attributes {
    file.attributes.view(inode: inode, kind: .folder, size: 0)
  }

  private func count(_ patience: Patience) throws(Fault) -> Int {
    try conversions.known.load(patience)
    return Int(try conversions.renditions.count(pages.conversion.verb, of: file.subject, patience))
  }

  func child(named name: FileName, _ patience: Patience) throws(Fault) -> Found? {
    guard let stem = name.dropping(suffix: pages.suffix), let selection = PageSelection(Substring(stem.text)),
      let recipe = pages.recipe(selection)
    else { return nil }
    let count = try count(patience)
    guard selection.isThere(in: count) else { return nil }
    let page = page(selection, by: recipe, of: count)
    return Found(page, try page.attributes(patience))
  }

  private func page(_ selection: PageSelection, by recipe: Recipe, of count: Int) -> RenditionFile {
    let number = selection.page
    return RenditionFile(
      file, recipe, conversions, view: Self.view,
      estimate: pages.conversion.size.estimate(fromFileOf: file.attributes.size)
    ) { [self] in
      if let number { prepare(after: number, of: count) }
    }
  }

  /// Has the next pages made for whoever goes from page to page.
  private func prepare(after page: Int, of count: Int) {
    guard lastOpened.exchange(page, ordering: .relaxed) == page - 1 else { return }
    for next in stride(from: page + 1, through: min(count, page + Self.ahead), by: 1) {
      guard let recipe = pages.recipe(PageSelection(page: next)) else { continue }
      conversions.renditions.prepare(recipe, of: file.subject)
    }
  }

  private static let ahead = 2

  func listing(_ patience: Patience) throws(Fault) -> any Listing { PageListing(self, count: try count(patience)) }

  func provenance(_ patience: Patience) throws(Fault) -> Provenance? {
    var provenance = file.provenance(
      view: Self.view, conversions.renditions.failure(of: counting, inState: file.revision))
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
      return (Int(place) + 1...min(count, Int(place) + Self.blockSize)).compactMap { number in
        let selection = PageSelection(page: number)
        guard let recipe = folder.pages.recipe(selection) else { return nil }
        let page = folder.page(selection, by: recipe, of: count)
        return ListedEntry(
          name: ListedName(folder.pages.name(number, of: count)), inode: page.inode, kind: .file, next: Int64(number))
      }
    }
  }
}

extension PageSelection {
  /// The page, if it is a single one.
  var page: Int? { runs.count == 1 && runs[0].first == runs[0].last ? runs[0].first : nil }

  /// Whether a document with `total` pages has all of them.
  fileprivate func isThere(in total: Int) -> Bool {
    runs.allSatisfy { $0.first <= total && ($0.last ?? total) <= total }
  }
}
