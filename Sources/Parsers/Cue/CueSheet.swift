/// A cue sheet: which part of which file each track of a record is, and what it is called.
///
/// As programs that copy records write them; CDRWIN's manual is the only description. What is no command, or has no
/// meaning where it stands, is passed over.
public struct CueSheet: Hashable, Sendable {
  /// A part of a file, from one track's beginning to the next one's.
  public struct Track: Hashable, Sendable {
    /// As the sheet counts; 0 for what precedes the first track.
    public let number: Int
    /// Which of `files`.
    public let file: Int
    /// Where it starts, in frames of 1/75 second.
    public let start: Int64
    /// nil: at the file's end.
    public let end: Int64?
    public let title: String?
    /// By FFmpeg's names for them, in one order.
    public let tags: [Tag]
  }

  public struct Tag: Hashable, Sendable {
    public let name: String
    public let value: String
  }

  /// What the sheet calls its files.
  public let files: [String]
  /// Those of sound, in the sheet's order; no two overlap.
  public let tracks: [Track]

  /// A longer text is no sheet, in bytes.
  public static let longest = 1 << 20
  /// Frames a second.
  public static let rate: Int64 = 75
  /// Neither tracks nor files are more.
  static let most = 999

  /// nil for a text without a track. O(n).
  public init?(_ bytes: [UInt8]) {
    guard bytes.count <= Self.longest else { return nil }
    var reading = CueReading()
    for line in CueText.lines(of: bytes) { reading.take(CueLine(line)) }
    files = reading.files
    tracks = reading.result
    if tracks.isEmpty { return nil }
  }

  /// Whether a file that starts so is a sheet: it names a file, and a track in it.
  public static func isHead(_ head: ArraySlice<UInt8>) -> Bool {
    var words: Set<String> = []
    for line in CueText.lines(of: Array(head)) { words.insert(CueLine(line).command) }
    return words.isSuperset(of: ["FILE", "TRACK"])
  }
}
