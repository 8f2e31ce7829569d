internal import Bytes
internal import Catalogue
internal import Cue
internal import Text
internal import Tree

/// A sheet and the names of its tracks' files, without their extensions.
struct RecordSheet: Sendable {
  /// The location of a sheet.
  enum Place: Sendable {
    /// A separate file, beside the files that it refers to.
    case beside
    /// The file that it divides.
    case inside
  }

  let sheet: CueSheet
  /// The stem of each track's name: `01 Title`.
  let stems: [FileName]
  private let places: [FileName: Int]

  /// The maximum length of a stem, in bytes. It leaves room for an extension and for a number that makes the name
  /// unique.
  private static let longestStem = 200

  init(_ sheet: CueSheet) {
    self.sheet = sheet
    var stems: [FileName] = []
    var places: [FileName: Int] = [:]
    for track in sheet.tracks {
      let digits = track.number < 10 ? "0\(track.number)" : "\(track.number)"
      let title = (track.title ?? "").unicodeScalars.map(Self.shown)
      let text = title.isEmpty ? digits : "\(digits) \(String(String.UnicodeScalarView(title)))"
      let plain = SafeName.cut(SafeName.safe(Array(text.utf8)[...]), to: Self.longestStem)
      var stem = FileName(plain)
      var number = 1
      while places[stem] != nil {
        stem = FileName(Array(plain) + Array(" (\(number))".utf8))
        number += 1
      }
      places[stem] = stems.count
      stems.append(stem)
    }
    self.stems = stems
    self.places = places
  }

  private static func shown(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    switch scalar.properties.generalCategory {
    // Characters that change the text direction could make a name look like another.
    case .control, .format, .lineSeparator, .paragraphSeparator: "?"
    default: scalar == "/" ? "-" : scalar
    }
  }

  /// Returns the track that a file with this name can belong to.
  func track(named name: FileName) -> Int? {
    guard let dot = name.bytes.lastIndex(of: UInt8(ascii: ".")) else { return nil }
    return places[FileName(name.bytes[..<dot])]
  }

  /// Returns the recipe that creates a track from a file of a format.
  func recipe(_ track: Int, of format: Format) -> Recipe? {
    let track = sheet.tracks[track]
    guard let span = MediaSpan(from: MediaTime(frames: track.start), to: track.end.map { MediaTime(frames: $0) }) else {
      return nil
    }
    return .cut(SoundCut(span, track.tags.map { SoundCut.Tag($0.name, $0.value) }), of: format)
  }
}
