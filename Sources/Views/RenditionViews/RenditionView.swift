package import Bytes
package import Catalogue
package import Tree

/// `NAME[.MODIFIER…].as-FORMAT`, or `….as.EXTENSION`: a file converted to another format, by any conversion of the
/// catalogue with such names.
package struct RenditionView: View {
  /// The name of the first listed conversion.
  package let name: String
  package let names: Set<String>
  package let kind = Kind.file
  package let listedExtensions: Set<FileExtension>
  package let possibleExtensions: Set<FileExtension>
  private let conversions: Conversions
  /// The conversions, in the catalogue's order.
  private let named: [Conversion]
  /// The conversions that a listing can show.
  private let listable: [Conversion]
  private let spelling: FormatSuffix

  package init(listing: ViewListing, _ conversions: Conversions) {
    let named = conversions.catalogue.conversions.filter { $0.naming == .suffix }
    self.named = named
    let listable = named.filter { !$0.listable.isEmpty }
    name = listable.first?.viewName ?? "as-format"
    names = Set(listable.map(\.viewName))
    self.listable = listable
    possibleExtensions = listable.reduce(into: []) { $0.formUnion($1.listable.extensions) }
    listedExtensions = listing.extensions(
      listable.reduce(into: []) { $0.formUnion($1.listed.extensions) }, byName: possibleExtensions)
    spelling = listing.spelling
    self.conversions = conversions
  }

  package var descriptions: [ViewDescription] {
    var descriptions: [ViewDescription] = []
    for first in named.indices {
      let same = named[first...].prefix { $0.meaning == named[first].meaning }
      if first > 0, named[first - 1].meaning == named[first].meaning { continue }
      var seen: Set<Format> = []
      let names = same.map(\.result).filter { seen.insert($0).inserted }.map(\.name)
      let (format, result) =
        names.count == 1
        ? (names[0], named[first].meaning.result)
        : ("FORMAT", "\(named[first].meaning.result): \(names.joined(separator: ", "))")
      descriptions.append(
        ViewDescription(
          "NAME\(named[first].neededWord).as-\(format)", listed: named[first].listed.extensions,
          sources: named[first].meaning.sources, result,
          modifiers: .init(of: named[first])))
    }
    return descriptions
  }

  package var formats: [Format] { named.map(\.result) }
  package var endings: Set<FileExtension> { formats.reduce(into: []) { $0.formUnion(FormatSuffix.endings(of: $1)) } }

  /// The work of all views that convert.
  package var work: WorkReport { conversions.work }

  /// Returns the conversion that a listing shows beside a file. For a file without a known extension, returns the
  /// first.
  private func listed(beside file: FileName) -> Conversion? {
    let format = file.fileExtension.flatMap { conversions.catalogue.format(named: $0) }
    return format.flatMap { format in listable.first { $0.listable.contains(format) } } ?? listable.first
  }

  package func listedName(beside file: FileName) -> FileName {
    listed(beside: file).map { spelling.name(of: file, as: $0.result) } ?? file
  }

  package func viewName(beside file: FileName) -> String { listed(beside: file)?.viewName ?? name }

  package func purpose(beside file: FileName) -> ListingPurpose {
    listed(beside: file)?.result.family == .image ? .showing : .converting
  }

  package func listedRequest(beside file: FileName) -> ViewRequest {
    ViewRequest(source: file, recipe: listed(beside: file)?.plainRecipe)
  }

  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool {
    // A file without an extension has the name of the first conversion.
    guard let format = conversions.catalogue.format(startingWith: head),
      listable.first?.listable.contains(format) ?? false
    else { return false }
    return !listedExtensions.isDisjoint(with: format.extensions)
  }

  package func requests(for name: FileName) -> [ViewRequest] {
    guard let (start, asksFor) = FormatSuffix.split(name) else { return [] }
    return ViewRequest.all(start, named.filter { asksFor($0.result) })
  }

  package func stop() { conversions.stop() }

  package func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult?
  {
    guard let recipe = request.recipe, let asked = conversions.catalogue.conversion(recipe.verb) else { return nil }
    if source.isConcealed { return try made(of: source, by: asked, recipe, blocking) }
    guard let format = try conversions.format(of: source, blocking),
      let way = way(from: format, to: asked.result, recipe == asked.recipe("") ? "" : recipe.arguments ?? "")
    else {
      return nil
    }
    return try made(of: conversions.source(source, after: way.steps, blocking), by: way.last, way.recipe, blocking)
  }

  private func made(
    of source: Source, by conversion: Conversion, _ recipe: Recipe, _ blocking: BlockingMode
  ) throws(Fault) -> LookupResult {
    try conversions.made(
      of: source, by: conversion, recipe, isListed: recipe == listed(beside: source.name)?.plainRecipe, blocking)
  }

  /// Returns the shortest chain of conversions from a format to a result that supports these modifiers. Returns `nil`
  /// if there is none.
  private func way(
    from format: Format, to result: Format, _ modifiers: String
  ) -> (steps: ArraySlice<Conversion>, last: Conversion, recipe: Recipe)? {
    var best: (steps: ArraySlice<Conversion>, last: Conversion, recipe: Recipe)?
    for conversion in named where conversion.result == result {
      guard let steps = conversions.catalogue.chain(from: format, to: conversion)?.dropLast(),
        let recipe = conversion.recipe(modifiers, of: steps.last?.result ?? format),
        steps.isEmpty || result != format && steps.count < best?.steps.count ?? .max
      else { continue }
      best = (steps, conversion, recipe)
      if steps.isEmpty { break }
    }
    return best
  }
}

extension Conversion {
  /// The name of its results as views.
  fileprivate var viewName: String { "as-\(result.name)" }

  /// The modifier that its names require, with a dot. Empty if there is none.
  fileprivate var neededWord: String {
    guard let usual, !usual.isComplete, let word = type(of: usual).examples.first?.modifier else { return "" }
    return ".\(word)"
  }
}

extension [ViewDescription.Modifier] {
  /// Creates the user-visible descriptions of a conversion's modifiers.
  init(of conversion: Conversion) {
    self = (conversion.usual.map { type(of: $0).examples } ?? []).map {
      ViewDescription.Modifier(example: $0.modifier, meaning: $0.meaning)
    }
  }
}
