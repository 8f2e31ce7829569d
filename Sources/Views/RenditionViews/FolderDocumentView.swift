package import Bytes
package import Catalogue
package import Tree

/// `FOLDER[.MODIFIER…].WORD.EXTENSION`: one document of the files in a directory, in the order of their names.
package struct FolderDocumentView: WordView {
  package let sourceKind = Kind.folder
  package let conversion: Conversion
  package let conversions: Conversions

  package init(_ conversion: Conversion, _ conversions: Conversions) {
    self.conversion = conversion
    self.conversions = conversions
  }

  package func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult?
  {
    // The pages of a PDF are already one document.
    guard let recipe = request.recipe, source.attributes.kind == .folder, source.item.listsViews else { return nil }
    // A caller without permission to list the directory must not learn that it has files.
    if source.isConcealed { return try made(of: source, by: recipe, blocking) }
    // All names of the directory are listed, and its files are examined.
    if blocking == .immediate { throw .later }
    let bundle = try FolderBundle(source, for: conversion, conversions, blocking)
    if bundle.isEmpty { return nil }
    let files = Source(
      item: bundle, attributes: try bundle.attributes(blocking), name: source.name, folder: source.folder)
    return try made(of: files, by: recipe, blocking)
  }
}
