package import Bytes
package import Catalogue
package import Tree

/// A view that is named by one conversion's word, `NAME[.MODIFIER…].WORD.EXTENSION`, and is not listed.
package protocol WordView: View {
  var conversion: Conversion { get }
  var conversions: Conversions { get }
}

extension WordView {
  package var name: String { conversion.word }
  package var kind: Kind { .file }
  package var listedExtensions: Set<FileExtension> { [] }
  package var possibleExtensions: Set<FileExtension> { [] }

  private var suffix: String {
    ".\(conversion.word).\(conversion.result.extensions.first?.text ?? conversion.result.name)"
  }

  package var descriptions: [ViewDescription] {
    [
      ViewDescription(
        "\(sourceKind == .folder ? "FOLDER" : "NAME")\(suffix)", sources: conversion.meaning.sources,
        conversion.meaning.result, modifiers: .init(of: conversion))
    ]
  }

  package var endings: Set<FileExtension> { Set(conversion.result.extensions.prefix(1)) }

  package func listedName(beside file: FileName) -> FileName { FileName(file.bytes + Array(suffix.utf8)) }

  package func listedRequest(beside file: FileName) -> ViewRequest {
    ViewRequest(source: file, recipe: conversion.plainRecipe)
  }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool { false }

  package func requests(for name: FileName) -> [ViewRequest] {
    guard name.bytes.reversed().starts(with: suffix.utf8.reversed()) else { return [] }
    return ViewRequest.all(name.bytes.dropLast(suffix.utf8.count), [conversion])
  }

  package func stop() { conversions.stop() }

  /// Returns the result of `recipe` for a file or a bundle.
  func made(of source: Source, by recipe: Recipe, _ blocking: BlockingMode) throws(Fault) -> LookupResult {
    let item = RenditionFile(
      SourceState(source), recipe, conversions, view: name,
      estimate: conversion.size.estimate(fromFileOf: source.attributes.size))
    return LookupResult(item, try item.attributes(blocking))
  }
}
