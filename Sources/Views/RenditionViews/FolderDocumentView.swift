package import Bytes
package import Catalogue
package import Tree

/// `FOLDER[.MODIFIER…].VERB.EXTENSION`, by name: one document of the files in a folder, in the order of their names.
package struct FolderDocumentView: View {
  package var name: String { conversion.word }
  package let kind = Kind.file
  package let sourceKind = Kind.folder
  package let listedExtensions: Set<FileExtension> = []
  package let possibleExtensions: Set<FileExtension> = []
  private let conversion: Conversion
  private let conversions: Conversions

  package init(_ conversion: Conversion, _ conversions: Conversions) {
    self.conversion = conversion
    self.conversions = conversions
  }

  package var descriptions: [ViewDescription] {
    [
      ViewDescription(
        "FOLDER\(conversion.suffix)", sources: conversion.meaning.sources, conversion.meaning.result,
        modifiers: .init(of: conversion))
    ]
  }

  package var endings: Set<FileExtension> { conversion.endings }

  package func listedName(beside file: FileName) -> FileName { conversion.name(beside: file) }

  package func listedRequest(beside file: FileName) -> ViewRequest {
    ViewRequest(source: file, recipe: conversion.plainRecipe)
  }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool { false }

  package func requests(for name: FileName) -> [ViewRequest] { conversion.requests(for: name) }

  package func stop() { conversions.stop() }

  package func item(of source: Source, _ request: ViewRequest, _ patience: Patience) throws(Fault) -> Found? {
    // The pages of a PDF are one already.
    guard let recipe = request.recipe, source.attributes.kind == .folder, source.item.listsViews else { return nil }
    // Who may not list the folder is not to learn that there is something in it.
    if source.isConcealed {
      let item = RenditionFile(SourceState(source), recipe, conversions, view: name, estimate: 1 << 20)
      return Found(item, try item.attributes(patience))
    }
    // All names of the folder are listed, and the files among them looked at.
    if patience == .immediate { throw .later }
    let bundle = try FolderBundle(source.item, source.attributes, conversion.sources.extensions, patience)
    if bundle.isEmpty { return nil }
    let attributes = try bundle.attributes(patience)
    let files = Source(item: bundle, attributes: attributes, name: source.name, folder: source.folder)
    let item = RenditionFile(
      SourceState(files), recipe, conversions, view: name,
      estimate: conversion.size.estimate(fromFileOf: attributes.size))
    return Found(item, try item.attributes(patience))
  }
}
