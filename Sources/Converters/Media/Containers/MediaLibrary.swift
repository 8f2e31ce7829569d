internal import CFFmpeg

/// FFmpeg's libraries as a whole.
public enum MediaLibrary {
  /// No single piece of memory is larger, in bytes: what a file claims decides how much a decoder asks for.
  private static let largestAllocation = 512 << 20

  /// Must be called once, before the sandbox is closed.
  public static func start() {
    // What a library has to say of a hostile file is not for a log; failures come as numbers.
    av_log_set_level(AV_LOG_QUIET)
    av_max_alloc(largestAllocation)
    // The first look at each of them builds tables.
    var place: UnsafeMutableRawPointer?
    unsafe _ = av_codec_iterate(&place)
    _ = swresample_version()
  }
}
