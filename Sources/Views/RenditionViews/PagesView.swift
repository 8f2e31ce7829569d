package import Bytes
internal import Catalogue
internal import Jobs
internal import Synchronization
package import Tree

/// `NAME.pages/`: the pages of a PDF, each as a file. `NAME.scan[.MODIFIER…].pages/`: the pages in a photo.
package struct PagesView: FolderView {
  package let name = "pages"
  package let listedExtensions: Set<FileExtension>
  package let possibleExtensions = Conversion.pages.listed.extensions
  private let listsUnnamed: Bool
  private let conversions: Conversions

  package static let suffix: StaticString = ".pages"

  package var descriptions: [ViewDescription] {
    let meaning = Conversion.pages.meaning
    let pages = ViewDescription(Self.spelling, listed: possibleExtensions, sources: meaning.sources, meaning.result)
    guard let scan else { return [pages] }
    let scanned = ViewDescription(
      "NAME.scan\(Self.suffix)/", sources: scan.meaning.sources,
      "each page in it, such as the two of an open book, or receipts side by side, straightened and cleaned",
      modifiers: .init(of: scan))
    return [pages, scanned]
  }

  package init(listing: ViewListing, _ conversions: Conversions) {
    listedExtensions = listing.extensions(possibleExtensions)
    listsUnnamed = listedExtensions.contains("pdf")
    self.conversions = conversions
  }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool {
    listsUnnamed && Format.pdf.isSignature(head)
  }

  /// The conversion that creates a page of a photo. Nil if no program supports it.
  private var scan: Conversion? { conversions.catalogue.conversion(Conversion.scannedPage.verb) }

  package func requests(for name: FileName) -> [ViewRequest] {
    guard let whole = name.dropping(suffix: Self.suffix) else { return [] }
    return [ViewRequest(source: whole)] + ViewRequest.all(whole.bytes[...], scan.map { [$0] } ?? [])
  }

  package func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult?
  {
    var source = source
    let pages: PageFiles
    if let recipe = request.recipe {
      guard let scan, let changes = recipe.arguments.flatMap({ ScanChanges($0[...]) }) else { return nil }
      if !source.isConcealed {
        guard let format = try conversions.format(of: source, blocking), scan.sources.contains(format) else {
          return nil
        }
      }
      pages = .scanned(changes)
    } else {
      let isNamed = source.item.knownHead == nil && source.isNamed(among: listedExtensions)
      if !isNamed, !source.isConcealed, !Format.pdf.isSignature(try source.head(blocking)) {
        // The document is converted to a PDF first.
        guard try conversions.format(of: source, blocking)?.family == .officeDocument,
          let made = try conversions.source(source, for: Conversion.pages, blocking)
        else { return nil }
        source = made
      }
      pages = .copied
    }
    let folder = DerivedDirectory(SourceState(source), pages, conversions)
    return LookupResult(folder, try folder.attributes(blocking))
  }

  package func stop() { conversions.stop() }
}
