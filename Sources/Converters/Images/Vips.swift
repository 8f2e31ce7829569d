internal import CVips

/// The libvips library.
public enum Vips {
  /// The loaders permitted for untrusted files: no other is ever tried.
  private static let loaders = ["Jpeg", "Png", "Webp", "Nsgif", "Tiff", "Heif", "Jp2k", "Ppm", "Openexr", "Svg"]

  /// Loads the library's modules, which are files: must be called once, before the sandbox is closed.
  ///
  /// - Returns: false if the library cannot be used.
  public static func start() -> Bool {
    // Libraries report errors by return values; their warnings would fill the log.
    unsafe g_log_set_default_handler({ _, _, _, _ in }, nil)
    guard unsafe vips_init("ffconvert") == 0 else { return false }
    // One job at a time, and no result is needed twice. The pool of workers uses all cores.
    vips_concurrency_set(1)
    vips_cache_set_max(0)
    // Images larger than this would be decompressed into a temporary file, which a worker cannot create.
    unsafe g_setenv("VIPS_DISC_THRESHOLD", "1024g", 1)
    unsafe vips_operation_block_set("VipsForeignLoad", 1)
    for loader in loaders { unsafe vips_operation_block_set("VipsForeignLoad\(loader)", 0) }
    return true
  }

  /// libvips' error message; clears it.
  static func takeError() -> String {
    defer { vips_error_clear() }
    return unsafe vips_error_buffer().map { unsafe String(cString: $0) } ?? ""
  }
}
