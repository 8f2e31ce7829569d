package import Bytes
internal import Catalogue
package import Tree

/// `STEM[.MODIFIER…].compressed.pdf` beside `STEM.pdf`: the same document with smaller images.
package struct CompressedView: View {
  package let name = "compressed"
  package let kind = Kind.file
  package let listedExtensions: Set<FileExtension>
  package let possibleExtensions = conversion.listed.extensions
  private let conversions: Conversions
  private static let conversion = Conversion.compressed

  package var descriptions: [ViewDescription] {
    let conversion = Self.conversion
    return [
      ViewDescription(
        "STEM\(Self.suffix)", listed: possibleExtensions, sources: conversion.meaning.sources,
        conversion.meaning.result, modifiers: .init(of: conversion))
    ]
  }

  private static let suffix: StaticString = ".compressed.pdf"
  private static let dot = UInt8(ascii: ".")
  /// The extension in every case. If several of the files exist, the first has the view.
  private static let extensions = ["pdf", "PDF", "Pdf", "pDf", "pdF", "PDf", "PdF", "pDF"].map { Array(".\($0)".utf8) }

  package init(listing: ViewListing, _ conversions: Conversions) {
    listedExtensions = listing.extensions(possibleExtensions)
    self.conversions = conversions
  }

  package var endings: Set<FileExtension> { ["pdf"] }

  package func listedName(beside file: FileName) -> FileName { FileName(stem(of: file)).appending(Self.suffix) }

  package func listedRequest(beside file: FileName) -> ViewRequest {
    ViewRequest(source: file, recipe: Self.conversion.plainRecipe)
  }

  package func alternatives(of file: FileName) -> [FileName] {
    let stem = stem(of: file)
    return Self.extensions.prefix { $0[...] != file.bytes[stem.endIndex...] }.map { FileName(stem + $0) }
  }

  private func stem(of file: FileName) -> ArraySlice<UInt8> {
    file.bytes[..<(file.bytes.lastIndex(of: Self.dot) ?? file.bytes.endIndex)]
  }

  /// Returns false: a file without an extension has no stem.
  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool { false }

  package func requests(for name: FileName) -> [ViewRequest] {
    guard let whole = name.dropping(suffix: Self.suffix) else { return [] }
    return ViewRequest.all(whole.bytes[...], [Self.conversion]).flatMap { stem in
      // The usual extension is repeated as the last request, whose source can be a view.
      (Self.extensions + [Self.extensions[0]]).map {
        ViewRequest(source: FileName(stem.source.bytes + $0), recipe: stem.recipe)
      }
    }
  }

  package func stop() { conversions.stop() }

  package func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult?
  {
    let isNamed = source.item.knownHead == nil && source.isNamed(among: listedExtensions)
    guard let recipe = request.recipe else { return nil }
    if !isNamed, !source.isConcealed, !Format.pdf.isSignature(try source.head(blocking)) { return nil }
    // No result is larger than its source.
    let item = RenditionFile(
      SourceState(source), recipe, conversions, view: name,
      estimate: Self.conversion.size.estimate(fromFileOf: source.attributes.size))
    return LookupResult(item, try item.attributes(blocking))
  }
}
