package import Bytes
package import Catalogue
package import Tree

/// A folder that is made of a film.
package protocol FilmView: FolderView {
  var conversions: Conversions { get }
  /// What it is made by.
  var conversion: Conversion { get }
}

extension FilmView {
  package var listedExtensions: Set<FileExtension> { [] }
  package var possibleExtensions: Set<FileExtension> { [] }
  package func isListed(besideFileStartingWith head: ArraySlice<UInt8>) -> Bool { false }
  package func stop() { conversions.stop() }

  /// The folder, if the file is one that it can be made of.
  func folder(_ source: Source, _ contents: FilmContents, _ patience: Patience) throws(Fault) -> Found? {
    if !source.isConcealed {
      guard let format = try conversions.format(of: source, patience), conversion.sources.contains(format) else {
        return nil
      }
    }
    let folder = MadeFolder(SourceState(source), contents, conversions)
    return Found(folder, try folder.attributes(patience))
  }
}

/// `NAME.streams/`: the tracks of a film, each as it is.
package struct StreamsView: FilmView {
  package let name = "streams"
  package let listedExtensions: Set<FileExtension>
  package let possibleExtensions: Set<FileExtension>
  package let conversions: Conversions
  package let conversion: Conversion

  package static let suffix: StaticString = ".streams"
  /// Those that mostly hold more than a picture and its sound, or that people take apart.
  private static let listed: [Format] = [.mkv, .mp4, .m4v, .mov, .avi, .webm, .vob, .m2ts]

  /// nil where no program tells of tracks.
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
        "its tracks, each as it is, with its subtitles, attached files and cover")
    ]
  }

  package func item(of source: Source, _ request: ViewRequest, _ patience: Patience) throws(Fault) -> Found? {
    try folder(source, .tracks, patience)
  }
}

/// `NAME[.every=TIME].frames/`: pictures of a film, named by their times.
package struct FramesView: FilmView {
  package let name = "frames"
  package let conversions: Conversions
  package let conversion: Conversion

  package static let suffix: StaticString = ".frames"

  /// nil where no program makes them.
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

  package func item(of source: Source, _ request: ViewRequest, _ patience: Patience) throws(Fault) -> Found? {
    guard let changes = request.recipe?.arguments.flatMap({ FrameChanges($0[...]) }) else { return nil }
    return try folder(source, .frames(changes), patience)
  }
}

/// `NAME.hls/`: a list for players, `index.m3u8`, and the segments that it names.
package struct SegmentsView: FilmView {
  package let name = "hls"
  package let conversions: Conversions
  package let conversion: Conversion

  package static let suffix: StaticString = ".hls"

  /// nil where no program makes them.
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

  package func item(of source: Source, _ request: ViewRequest, _ patience: Patience) throws(Fault) -> Found? {
    try folder(source, .segments, patience)
  }
}
