/// The programs that can read a film while it is being generated: players, thumbnailers and indexers.
///
/// A film that is being generated can be read long before its size is known. Players start with the available bytes and
/// read until there are no more. All other programs may rely on the size that they get after opening a file, and wait
/// for it.
public struct Players: Sendable {
  /// The names of the executables.
  private let names: Set<String>

  /// Creates the set of the known programs and others, by the names of their executables.
  public init(and others: [String] = []) { names = Self.known.union(others) }

  private static let known: Set<String> = [
    "audacious", "celluloid", "clapper", "clementine", "cmus", "deadbeef", "dragon", "elisa", "ffmpeg", "ffplay",
    "ffprobe", "gst-discoverer-1.0", "gst-launch-1.0", "gst-play-1.0", "haruna", "kodi.bin", "mocp", "mplayer", "mpv",
    "parole", "quodlibet", "rhythmbox", "smplayer", "strawberry", "totem", "vlc", "xine",
    // Thumbnailers and indexers. Without them, opening a directory would generate all of its films.
    "baloo_file_extractor", "ffmpegthumbnailer", "kioslave5", "kioworker", "localsearch-3", "localsearch-extractor-3",
    "totem-video-thumbnailer", "tracker-extract-3", "tumblerd",
  ]

  /// Returns whether a thread, 0 if unknown, runs such a program. Reads /proc.
  func run(_ thread: Int32) -> Bool { RunningProgram.file(of: thread).map(names.contains) ?? false }
}
