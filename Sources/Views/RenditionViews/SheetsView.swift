package import Bytes
internal import Catalogue
package import Tree

/// `NAME.sheets/`, by name: the sheets of a workbook, each as CSV.
package struct SheetsView: FolderView {
  package let name = "sheets"
  package let listedExtensions: Set<FileExtension> = []
  package let possibleExtensions: Set<FileExtension> = []
  private let conversions: Conversions

  package static let suffix: StaticString = ".sheets"

  package init(_ conversions: Conversions) { self.conversions = conversions }

  package var descriptions: [ViewDescription] {
    let meaning = Conversion.sheet.meaning
    return [ViewDescription(Self.spelling, sources: meaning.sources, meaning.result)]
  }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool { false }

  package func stop() { conversions.stop() }

  package func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult?
  {
    let read = source.isConcealed ? source : try conversions.source(source, for: Conversion.sheet, blocking)
    guard let source = read else { return nil }
    let folder = DerivedDirectory(SourceState(source), SheetFiles(), conversions)
    return LookupResult(folder, try folder.attributes(blocking))
  }
}
