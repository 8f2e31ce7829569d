package import Bytes
internal import Catalogue
package import Tree

extension Conversions {
  /// Returns a file that is converted from another, as `NAME.as-FORMAT`.
  func made(
    of source: Source, by conversion: Conversion, _ recipe: Recipe, isListed: Bool, _ blocking: BlockingMode
  ) throws(Fault) -> LookupResult {
    let item = RenditionFile(
      SourceState(source), recipe, self, view: "as-\(conversion.result.name)", isListed: isListed,
      estimate: conversion.size.estimate(fromFileOf: source.attributes.size))
    return LookupResult(item, try item.attributes(blocking))
  }

  /// Returns the result of several conversions of a file, one after the other. Each result is a file of its own.
  func source(
    _ source: Source, after steps: some Sequence<Conversion>, _ blocking: BlockingMode
  ) throws(Fault) -> Source {
    var source = source
    for step in steps {
      let found = try made(of: source, by: step, step.plainRecipe, isListed: false, blocking)
      source = Source(
        item: found.item, attributes: found.attributes, name: FormatSuffix.name.name(of: source.name, as: step.result),
        folder: source.folder)
    }
    return source
  }

  /// Returns a source that a conversion can read: the file itself, or the result of the shortest chain of other
  /// conversions. Returns `nil` if there is none.
  func source(_ source: Source, for conversion: Conversion, _ blocking: BlockingMode) throws(Fault) -> Source? {
    guard let format = try format(of: source, blocking), let chain = catalogue.chain(from: format, to: conversion)
    else {
      return nil
    }
    return try self.source(source, after: chain.dropLast(), blocking)
  }

  /// A function that converts an Outlook message to an ordinary one and returns `nil` for other files. Nil if no
  /// program supports that.
  package var outlook: (@Sendable (Source, BlockingMode) throws(Fault) -> Source?)? {
    guard let conversion = catalogue.conversion(Conversion.message.verb) else { return nil }
    return { [self] (source, blocking) throws(Fault) in
      guard let format = try format(of: source, blocking), conversion.sources.contains(format) else { return nil }
      return try self.source(source, after: [conversion], blocking)
    }
  }
}
