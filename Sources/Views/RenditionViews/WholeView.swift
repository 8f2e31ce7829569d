package import Bytes
package import Catalogue
package import Tree

/// `NAME[.MODIFIER…].WORD.EXTENSION`: the result of one conversion of a file.
package struct WholeView: WordView {
  package let conversion: Conversion
  package let conversions: Conversions

  package init(_ conversion: Conversion, _ conversions: Conversions) {
    self.conversion = conversion
    self.conversions = conversions
  }

  package func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult?
  {
    guard let recipe = request.recipe else { return nil }
    if !source.isConcealed {
      guard let format = try conversions.format(of: source, blocking), conversion.sources.contains(format) else {
        return nil
      }
    }
    return try made(of: source, by: recipe, blocking)
  }
}
