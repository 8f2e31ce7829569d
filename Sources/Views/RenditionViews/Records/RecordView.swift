package import Bytes
internal import Catalogue
internal import Cue
package import Tree

/// `NAME.tracks/`: the tracks of a record, from a cue sheet and the files beside it, or from a file that contains a
/// sheet.
package struct RecordView: FolderView {
  package let name = "tracks"
  package let listedExtensions: Set<FileExtension>
  package let possibleExtensions: Set<FileExtension> = ["cue"]
  private let conversions: Conversions

  package static let suffix: StaticString = ".tracks"

  /// Creates the view. Returns `nil` if no program creates tracks.
  package init?(listing: ViewListing, _ conversions: Conversions) {
    guard conversions.catalogue.conversion(Conversion.cueSheet.verb) != nil else { return nil }
    listedExtensions = listing.extensions(possibleExtensions)
    self.conversions = conversions
  }

  package var descriptions: [ViewDescription] {
    [
      ViewDescription(
        Self.spelling, listed: possibleExtensions, sources: "any cue sheet, any sound with one in it or with chapters",
        "the tracks, as `01 TITLE.flac`, cut to the sample, with their tags")
    ]
  }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool { false }
  package func stop() { conversions.stop() }

  package func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult?
  {
    let isNamed = source.item.knownHead == nil && source.isNamed(among: possibleExtensions)
    var place = RecordSheet.Place.beside
    if !isNamed {
      if source.isConcealed {
        place = .inside
      } else if let format = try conversions.format(of: source, blocking) {
        guard Conversion.cueSheet.sources.contains(format) else { return nil }
        place = .inside
      } else if try !CueSheet.isHead(source.head(blocking)) {
        return nil
      }
    }
    let folder = RecordFolder(SourceState(source), place, conversions)
    return LookupResult(folder, try folder.attributes(blocking))
  }
}
