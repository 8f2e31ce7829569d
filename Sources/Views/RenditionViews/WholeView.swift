package import Bytes
package import Catalogue
package import Tree

/// `NAME[.MODIFIER…].VERB.EXTENSION`, by name: what one conversion makes of a file.
package struct WholeView: View {
  package var name: String { conversion.word }
  package let kind = Kind.file
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
        "NAME\(conversion.suffix)", sources: conversion.meaning.sources, conversion.meaning.result,
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
    guard let recipe = request.recipe else { return nil }
    if !source.isConcealed {
      guard let format = try conversions.format(of: source, patience), conversion.sources.contains(format) else {
        return nil
      }
    }
    let item = RenditionFile(
      SourceState(source), recipe, conversions, view: name,
      estimate: conversion.size.estimate(fromFileOf: source.attributes.size))
    return Found(item, try item.attributes(patience))
  }
}
