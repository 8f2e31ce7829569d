package import Bytes
internal import Catalogue
package import Tree

extension Conversions {
  /// A file made of another, as `NAME.as-FORMAT`.
  func made(
    of source: Source, by conversion: Conversion, _ recipe: Recipe, isListed: Bool, _ patience: Patience
  ) throws(Fault) -> Found {
    let item = RenditionFile(
      SourceState(source), recipe, self, view: "as-\(conversion.result.name)", isListed: isListed,
      estimate: conversion.size.estimate(fromFileOf: source.attributes.size))
    return Found(item, try item.attributes(patience))
  }

  /// What several conversions make of a file, one after the other; each makes a file of its own.
  func source(
    _ source: Source, after steps: some Sequence<Conversion>, _ patience: Patience
  ) throws(Fault) -> Source {
    var source = source
    for step in steps {
      let found = try made(of: source, by: step, step.plainRecipe, isListed: false, patience)
      source = Source(
        item: found.item, attributes: found.attributes, name: FormatSuffix.name.name(of: source.name, as: step.result),
        folder: source.folder)
    }
    return source
  }

  /// A file as a conversion can read it: itself, or what the fewest others make of it; nil if none do.
  func source(_ source: Source, for conversion: Conversion, _ patience: Patience) throws(Fault) -> Source? {
    guard let format = try format(of: source, patience), let chain = catalogue.chain(from: format, to: conversion)
    else {
      return nil
    }
    return try self.source(source, after: chain.dropLast(), patience)
  }

  /// What makes a message like others of one of Outlook's, and nothing of other files; nil if no program does.
  package var outlook: (@Sendable (Source, Patience) throws(Fault) -> Source?)? {
    guard let conversion = catalogue.conversion(Conversion.message.verb) else { return nil }
    return { [self] (source, patience) throws(Fault) in
      guard let format = try format(of: source, patience), conversion.sources.contains(format) else { return nil }
      return try self.source(source, after: [conversion], patience)
    }
  }
}
