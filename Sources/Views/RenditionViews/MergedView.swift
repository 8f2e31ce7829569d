package import Bytes
internal import Catalogue
package import Tree

/// `FOLDER.merged.pdf`, by name: the PDFs and images of a folder as one document, in the order of their names.
package struct MergedView: View {
  package let name = "merged"
  package let kind = Kind.file
  package let sourceKind = Kind.folder
  package let listedExtensions: Set<FileExtension> = []
  package let possibleExtensions: Set<FileExtension> = []
  private let conversions: Conversions

  private static let suffix: StaticString = ".merged.pdf"

  package var descriptions: [ViewDescription] {
    let meaning = Conversion.merged.meaning
    return [ViewDescription("FOLDER\(Self.suffix)", sources: meaning.sources, meaning.result)]
  }

  package init(_ conversions: Conversions) { self.conversions = conversions }

  package var endings: Set<FileExtension> { ["pdf"] }

  package func listedName(beside file: FileName) -> FileName { file.appending(Self.suffix) }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool { false }

  package func requests(for name: FileName) -> [ViewRequest] {
    name.dropping(suffix: Self.suffix).map { [ViewRequest(source: $0)] } ?? []
  }

  package func stop() { conversions.stop() }

  package func item(of source: Source, _ request: ViewRequest, _ patience: Patience) throws(Fault) -> Found? {
    // The pages of a PDF are one already.
    guard source.attributes.kind == .folder, source.item.listsViews else { return nil }
    // Who may not list the folder is not to learn that there is something to be merged in it.
    if source.isConcealed {
      let item = RenditionFile(
        SourceState(source), .merged, conversions, view: name, estimate: 1 << 20)
      return Found(item, try item.attributes(patience))
    }
    // All names of the folder are listed, and the files among them looked at.
    if patience == .immediate { throw .later }
    let bundle = try FolderBundle(source.item, source.attributes, patience)
    if bundle.isEmpty { return nil }
    let attributes = try bundle.attributes(patience)
    let files = Source(item: bundle, attributes: attributes, name: source.name, folder: source.folder)
    let item = RenditionFile(
      SourceState(files), .merged, conversions, view: name,
      estimate: Conversion.merged.size.estimate(fromFileOf: attributes.size))
    return Found(item, try item.attributes(patience))
  }
}
