package import Bytes
internal import Catalogue
package import Tree

/// `NAME[.MODIFIER…].4x3.tiles/`, by name: the pieces of an image, each as a file.
package struct TilesView: FolderView {
  package let name = "tiles"
  package let listedExtensions: Set<FileExtension> = []
  package let possibleExtensions: Set<FileExtension> = []
  private let conversions: Conversions

  package static let suffix: StaticString = ".tiles"

  package var descriptions: [ViewDescription] {
    let meaning = Conversion.tiles.meaning
    return [
      ViewDescription(
        "NAME.4x3\(Self.suffix)/", sources: meaning.sources, meaning.result, modifiers: .init(of: .tiles))
    ]
  }

  /// Creates the view. Returns `nil` if no program creates pieces.
  package init?(_ conversions: Conversions) {
    guard conversions.catalogue.conversion(Conversion.tiles.result.name) != nil else { return nil }
    self.conversions = conversions
  }

  package func listedName(beside file: FileName) -> FileName { file.appending(".1x1.tiles") }

  package func listedRequest(beside file: FileName) -> ViewRequest {
    var whole = TileChanges()
    _ = whole.add("1x1")
    return ViewRequest(source: file, recipe: Recipe(verb: Conversion.tiles.verb, whole))
  }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool { false }

  package func requests(for name: FileName) -> [ViewRequest] {
    guard let whole = name.dropping(suffix: Self.suffix) else { return [] }
    return ViewRequest.all(whole.bytes[...], [.tiles])
  }

  package func stop() { conversions.stop() }

  package func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult?
  {
    guard let changes = request.recipe?.arguments.flatMap({ TileChanges($0[...]) }), let grid = changes.grid else {
      return nil
    }
    var result = Conversion.tiles.result
    if !source.isConcealed {
      guard let format = try conversions.format(of: source, blocking), Conversion.tiles.sources.contains(format),
        let tile = conversions.catalogue.conversion(result.name), tile.sources.contains(format),
        changes.apply(to: format)
      else { return nil }
      if conversions.catalogue.conversion(format.name)?.result == format { result = format }
    }
    let folder = DerivedDirectory(
      SourceState(source), TileFiles(changes: changes, grid: grid, result: result), conversions)
    return LookupResult(folder, try folder.attributes(blocking))
  }
}
