internal import CFFmpeg

/// The global state of FFmpeg's libraries.
public enum MediaLibrary {
  /// The maximum size of an allocation, in bytes. Decoders allocate as much as a file claims.
  private static let largestAllocation = 512 << 20

  /// Initializes the libraries. Must be called once, before the sandbox is closed.
  public static func start() {
    // Messages about hostile files are not logged. Failures are reported as numbers.
    av_log_set_level(AV_LOG_QUIET)
    av_max_alloc(largestAllocation)
    // The first use of each library builds tables.
    var place: UnsafeMutableRawPointer?
    unsafe _ = av_codec_iterate(&place)
    _ = swresample_version()
    // Without it, pictures have no XMP tags.
    _ = PictureTags.start()
  }
}
