package import Bytes
package import Catalogue
package import Tree

/// `FOLDER[.MODIFIER…].WORD.EXTENSION`: one document of the files in a folder, in the order of their names.
package struct FolderDocumentView: WordView {
  package let sourceKind = Kind.folder
  package let conversion: Conversion
  package let conversions: Conversions

  package init(_ conversion: Conversion, _ conversions: Conversions) {
    self.conversion = conversion
    self.conversions = conversions
  }

  package func item(of source: Source, _ request: ViewRequest, _ patience: Patience) throws(Fault) -> Found? {
    // The pages of a PDF are one already.
    guard let recipe = request.recipe, source.attributes.kind == .folder, source.item.listsViews else { return nil }
    // Who may not list the folder is not to learn that there is something in it.
    if source.isConcealed { return try made(of: source, by: recipe, patience) }
    // All names of the folder are listed, and the files among them looked at.
    if patience == .immediate { throw .later }
    let bundle = try FolderBundle(source, for: conversion, conversions, patience)
    if bundle.isEmpty { return nil }
    let files = Source(
      item: bundle, attributes: try bundle.attributes(patience), name: source.name, folder: source.folder)
    return try made(of: files, by: recipe, patience)
  }
}
