/// The programs that play sound and film, or take a picture of it for a file manager.
///
/// A film that is being made can be read long before its size is known. Players begin with what there is and read until there
/// is no more; all other programs may rely on the size that they are told when they have opened a file, and wait for it.
public struct Players: Sendable {
  /// As their files are called.
  private let names: Set<String>

  /// Those that are known, and others, each as its file is called.
  public init(and others: [String] = []) { names = Self.known.union(others) }

  private static let known: Set<String> = [
    "audacious", "celluloid", "clapper", "clementine", "cmus", "deadbeef", "dragon", "elisa", "ffmpeg", "ffplay",
    "ffprobe", "gst-discoverer-1.0", "gst-launch-1.0", "gst-play-1.0", "haruna", "kodi.bin", "mocp", "mplayer", "mpv",
    "parole", "quodlibet", "rhythmbox", "smplayer", "strawberry", "totem", "vlc", "xine",
    // Thumbnailers and indexers: without them, to look at a folder would be to make all of its films.
    "baloo_file_extractor", "ffmpegthumbnailer", "kioslave5", "kioworker", "localsearch-3", "localsearch-extractor-3",
    "totem-video-thumbnailer", "tracker-extract-3", "tumblerd",
  ]

  /// Whether a thread, 0 if it is not known, is one of such a program. Reads /proc.
  func run(_ thread: Int32) -> Bool { RunningProgram.file(of: thread).map(names.contains) ?? false }
}
