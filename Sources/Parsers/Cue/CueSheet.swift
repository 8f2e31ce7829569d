/// A cue sheet, which maps the tracks of a record to parts of files and names them.
///
/// The format is the one written by programs that copy records; CDRWIN's manual is the only description. Unknown and
/// misplaced commands are ignored.
public struct CueSheet: Hashable, Sendable {
  /// A part of a file, from the start of one track to the start of the next.
  public struct Track: Hashable, Sendable {
    /// The number in the sheet. 0 for the part before the first track.
    public let number: Int
    /// The index in `files`.
    public let file: Int
    /// The start, in frames of 1/75 second.
    public let start: Int64
    /// The end, in frames. Nil for the file's end.
    public let end: Int64?
    public let title: String?
    /// The tags under FFmpeg's names, sorted by name.
    public let tags: [Tag]
  }

  public struct Tag: Hashable, Sendable {
    public let name: String
    public let value: String
  }

  /// The names of the files.
  public let files: [String]
  /// The audio tracks, in the sheet's order. They do not overlap.
  public let tracks: [Track]

  /// The maximum size of a sheet, in bytes.
  public static let longest = 1 << 20
  /// The number of frames per second.
  public static let rate: Int64 = 75
  /// The maximum number of tracks, and of files.
  static let most = 999

  /// Parses a sheet. Returns `nil` if the text has no track or is too long. O(n).
  public init?(_ bytes: [UInt8]) {
    guard bytes.count <= Self.longest else { return nil }
    var reading = CueReading()
    for line in CueText.lines(of: bytes) { reading.take(CueLine(line)) }
    files = reading.files
    tracks = reading.result
    if tracks.isEmpty { return nil }
  }

  /// Returns whether a file that starts with `head` is a sheet: it names a file and a track.
  public static func isHead(_ head: ArraySlice<UInt8>) -> Bool {
    var words: Set<String> = []
    for line in CueText.lines(of: Array(head)) { words.insert(CueLine(line).command) }
    return words.isSuperset(of: ["FILE", "TRACK"])
  }
}
