package import Bytes
internal import Catalogue
package import Tree

/// `FOLDER.scan[.MODIFIER…].pages/`, by name: the pages in a directory's photos, cleaned, with one file for each photo.
package struct ScannedFolderView: FolderView {
  package let name = "pages"
  package let sourceKind = Kind.folder
  package let listedExtensions: Set<FileExtension> = []
  package let possibleExtensions: Set<FileExtension> = []
  private let scan: Conversion
  private let conversions: Conversions

  package static let suffix: StaticString = ".pages"

  package var descriptions: [ViewDescription] {
    [
      ViewDescription(
        "FOLDER.scan\(Self.suffix)/", sources: "any folder with photos of pages",
        "the page in each, straightened and cleaned", modifiers: .init(of: scan))
    ]
  }

  /// Creates the view. Returns `nil` if no program creates pages.
  package init?(_ conversions: Conversions) {
    guard let scan = conversions.catalogue.conversion(Conversion.scannedPage.verb) else { return nil }
    self.scan = scan
    self.conversions = conversions
  }

  package func listedName(beside file: FileName) -> FileName { file.appending(".scan.pages") }

  package func listedRequest(beside file: FileName) -> ViewRequest {
    ViewRequest(source: file, recipe: scan.plainRecipe)
  }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool { false }

  package func requests(for name: FileName) -> [ViewRequest] {
    guard let whole = name.dropping(suffix: Self.suffix) else { return [] }
    return ViewRequest.all(whole.bytes[...], [scan])
  }

  package func stop() { conversions.stop() }

  package func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult?
  {
    guard let recipe = request.recipe, source.attributes.kind == .folder, source.isConcealed || source.item.listsViews
    else { return nil }
    let folder = ScannedFolder(SourceState(source), scan, recipe, conversions)
    return LookupResult(folder, try folder.attributes(blocking))
  }
}

/// The cleaned photos of a directory: `IMG_1.jpg` for `IMG_1.jpg`, `IMG_2.heic.jpg` for `IMG_2.heic`.
final class ScannedFolder: DerivedItem {
  let file: SourceState
  let inode: UInt64
  let identity: UInt64
  var kind: Kind { .folder }
  var listsViews: Bool { false }
  // Photos can be added or removed without a change of the others.
  var isImmutable: Bool { file.source.item.isImmutable }
  private let scan: Conversion
  private let recipe: Recipe
  private let conversions: Conversions

  /// A constant that avoids collisions with the inode numbers of other views of the directory.
  private static let mark: UInt64 = 0x7363_616E << 32
  private static let suffix: StaticString = ".jpg"
  /// The maximum number of photos that are shown.
  private static let most = 65_536

  init(_ file: SourceState, _ scan: Conversion, _ recipe: Recipe, _ conversions: Conversions) {
    self.file = file
    self.scan = scan
    self.recipe = recipe
    self.conversions = conversions
    var hash = StableHash(seed: Self.mark)
    hash.combine(recipe.description.utf8)
    identity = hash.value
    inode = file.inode(Self.mark, hash.value)
  }

  func attributes(_ blocking: BlockingMode) throws(Fault) -> Attributes {
    file.attributes.view(inode: inode, kind: .folder, size: 0)
  }

  func child(named name: FileName, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    // A photo's own name takes precedence over a name with an added extension.
    for photo in [name, name.dropping(suffix: Self.suffix)].compactMap(\.self) where shown(photo) == name {
      guard let member = try FileGroup.member(named: photo, in: file.source.item, blocking) else { continue }
      let page = page(of: member)
      return LookupResult(page, try page.attributes(blocking))
    }
    return nil
  }

  /// Returns the name of a photo's page. Returns `nil` if the file is not a photo.
  private func shown(_ photo: FileName) -> FileName? {
    guard let format = photo.fileExtension.flatMap({ conversions.catalogue.format(named: $0) }),
      scan.sources.contains(format)
    else { return nil }
    return format == .jpeg ? photo : photo.appending(Self.suffix)
  }

  private func page(of photo: FileGroup.Member) -> RenditionFile {
    let folder = file.source
    // Faults and attributes identify the photo by its path.
    let path = FileName(Array(folder.name.bytes) + [UInt8(ascii: "/")] + photo.name.bytes)
    let source = Source(item: photo.item, attributes: photo.attributes, name: path, folder: folder.folder)
    return RenditionFile(
      SourceState(source), recipe, conversions, view: "pages",
      estimate: scan.size.estimate(fromFileOf: photo.attributes.size))
  }

  func listing(_ blocking: BlockingMode) throws(Fault) -> any DirectoryCursor {
    if blocking == .immediate { throw .later }
    let listing = try file.source.item.listing(blocking)
    var pages: [IndexedCursor.Entry] = []
    var place: Int64 = 0
    while true {
      let entries = try listing.entries(after: place, blocking)
      guard let last = entries.last else { break }
      place = last.next
      for entry in entries {
        try CancellationToken.check()
        guard let name = shown(entry.name.fileName), pages.count < Self.most,
          let member = try FileGroup.member(named: entry.name.fileName, in: file.source.item, blocking)
        else { continue }
        pages.append((name, page(of: member).inode, .file))
      }
    }
    pages.sort { NaturalOrder.precedes($0.name.bytes, $1.name.bytes) }
    return IndexedCursor(pages)
  }

  func provenance(_ blocking: BlockingMode) throws(Fault) -> Provenance? { file.provenance(view: "pages", nil) }
}
