internal import CVips

/// libvips itself.
public enum Vips {
  /// What may be read from files of strangers: no other loader is ever tried.
  private static let loaders = ["Jpeg", "Png", "Webp", "Nsgif", "Tiff", "Heif", "Jp2k", "Ppm", "Openexr", "Svg"]

  /// Loads the library's modules, which are files: to be called once, before the process shuts itself in.
  ///
  /// - Returns: false when it cannot be used.
  public static func start() -> Bool {
    // What libraries have to say is in the errors that they return; their warnings would fill the log.
    unsafe g_log_set_default_handler({ _, _, _, _ in }, nil)
    guard unsafe vips_init("ffconvert") == 0 else { return false }
    // One job at a time, and no result is wanted twice. The pool of workers uses all cores.
    vips_concurrency_set(1)
    vips_cache_set_max(0)
    // Images larger than this would be unpacked into a temporary file, and there is no place for one.
    unsafe g_setenv("VIPS_DISC_THRESHOLD", "1024g", 1)
    unsafe vips_operation_block_set("VipsForeignLoad", 1)
    for loader in loaders { unsafe vips_operation_block_set("VipsForeignLoad\(loader)", 0) }
    return true
  }

  /// What went wrong, in libvips' words; forgotten afterwards.
  static func takeError() -> String {
    defer { vips_error_clear() }
    return unsafe vips_error_buffer().map { unsafe String(cString: $0) } ?? ""
  }
}
