internal import Bytes
internal import Catalogue
internal import Cue
internal import Text
internal import Tree

/// A sheet, and what the files of its tracks are called but for their extensions.
struct RecordSheet: Sendable {
  /// Where a sheet is.
  enum Place: Sendable {
    /// In a file of its own, beside those that it names.
    case beside
    /// In the file that it divides.
    case inside
  }

  let sheet: CueSheet
  /// `01 Title`, for each track.
  let stems: [FileName]
  private let places: [FileName: Int]

  /// Room is left for an extension, and for what tells two of one name apart.
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
    // What turns the direction of letters would have a name look like another.
    case .control, .format, .lineSeparator, .paragraphSeparator: "?"
    default: scalar == "/" ? "-" : scalar
    }
  }

  /// The track that a file of a name may be of.
  func track(named name: FileName) -> Int? {
    guard let dot = name.bytes.lastIndex(of: UInt8(ascii: ".")) else { return nil }
    return places[FileName(name.bytes[..<dot])]
  }

  /// How a track is made of a file of a format.
  func recipe(_ track: Int, of format: Format) -> Recipe? {
    let track = sheet.tracks[track]
    guard let span = MediaSpan(from: MediaTime(frames: track.start), to: track.end.map { MediaTime(frames: $0) }) else {
      return nil
    }
    return .cut(SoundCut(span, track.tags.map { SoundCut.Tag($0.name, $0.value) }), of: format)
  }
}
