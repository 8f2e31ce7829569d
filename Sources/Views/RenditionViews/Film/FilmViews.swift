package import Bytes
package import Catalogue
package import Tree

/// A directory that is derived from a film.
package protocol FilmView: FolderView {
  var conversions: Conversions { get }
  /// The conversion that the directory is derived by.
  var conversion: Conversion { get }
}

extension FilmView {
  package var listedExtensions: Set<FileExtension> { [] }
  package var possibleExtensions: Set<FileExtension> { [] }
  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool { false }
  package func stop() { conversions.stop() }

  /// Returns the directory. Returns `nil` if the file's format is not supported.
  func folder(_ source: Source, _ contents: FilmContents, _ blocking: BlockingMode) throws(Fault) -> LookupResult? {
    if !source.isConcealed {
      guard let format = try conversions.format(of: source, blocking), conversion.sources.contains(format) else {
        return nil
      }
    }
    let folder = DerivedDirectory(SourceState(source), contents, conversions)
    return LookupResult(folder, try folder.attributes(blocking))
  }
}

/// `NAME.streams/`: the tracks of a film, each unchanged.
package struct StreamsView: FilmView {
  package let name = "streams"
  package let listedExtensions: Set<FileExtension>
  package let possibleExtensions: Set<FileExtension>
  package let conversions: Conversions
  package let conversion: Conversion

  package static let suffix: StaticString = ".streams"
  /// The formats that mostly contain more than a picture and its sound, or that users take apart.
  private static let listed: [Format] = [.mkv, .mp4, .m4v, .mov, .avi, .webm, .vob, .m2ts]

  /// Creates the view. Returns `nil` if no program lists tracks.
  package init?(listing: ViewListing, _ conversions: Conversions) {
    guard let conversion = conversions.catalogue.conversion(Conversion.tracks.verb) else { return nil }
    self.conversion = conversion
    self.conversions = conversions
    possibleExtensions = conversion.sources.extensions
    listedExtensions = listing.extensions(Self.listed.extensions, byName: possibleExtensions)
  }

  package var descriptions: [ViewDescription] {
    [
      ViewDescription(
        Self.spelling, listed: Self.listed.extensions, sources: "any film",
        "its tracks unchanged, with its subtitles, attached files and cover")
    ]
  }

  package func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult?
  {
    try folder(source, .tracks, blocking)
  }
}

/// `NAME[.every=TIME].frames/`: pictures of a film, named by their times.
package struct FramesView: FilmView {
  package let name = "frames"
  package let conversions: Conversions
  package let conversion: Conversion

  package static let suffix: StaticString = ".frames"

  /// Creates the view. Returns `nil` if no program extracts pictures.
  package init?(_ conversions: Conversions) {
    guard conversions.catalogue.conversion(Conversion.frames.verb) != nil else { return nil }
    conversion = .frames
    self.conversions = conversions
  }

  package var descriptions: [ViewDescription] {
    [
      ViewDescription(
        Self.spelling, sources: conversion.meaning.sources, "a picture of each second, as `00-01-30.jpg`",
        modifiers: .init(of: conversion))
    ]
  }

  package func listedRequest(beside file: FileName) -> ViewRequest {
    ViewRequest(source: file, recipe: conversion.plainRecipe)
  }

  package func requests(for name: FileName) -> [ViewRequest] {
    name.dropping(suffix: Self.suffix).map { ViewRequest.all($0.bytes[...], [conversion]) } ?? []
  }

  package func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult?
  {
    guard let changes = request.recipe?.arguments.flatMap({ FrameChanges($0[...]) }) else { return nil }
    return try folder(source, .frames(changes), blocking)
  }
}

/// `NAME.hls/`: a playlist for players, `index.m3u8`, and its segments.
package struct SegmentsView: FilmView {
  package let name = "hls"
  package let conversions: Conversions
  package let conversion: Conversion

  package static let suffix: StaticString = ".hls"

  /// Creates the view. Returns `nil` if no program creates segments.
  package init?(_ conversions: Conversions) {
    guard let conversion = conversions.catalogue.conversion(Conversion.segment.verb) else { return nil }
    self.conversion = conversion
    self.conversions = conversions
  }

  package var descriptions: [ViewDescription] {
    [
      ViewDescription(
        Self.spelling, sources: conversion.meaning.sources,
        "`index.m3u8` for players, and the segments that it names, each made when it is played")
    ]
  }

  package func item(of source: Source, _ request: ViewRequest, _ blocking: BlockingMode) throws(Fault) -> LookupResult?
  {
    try folder(source, .segments, blocking)
  }
}
