internal import CHeif
internal import CVips
internal import Glibc
internal import WorkerKit

/// The libvips library.
public enum Vips {
  /// The loaders permitted for untrusted files. No other is ever tried.
  private static let loaders =
    ["Jpeg", "Png", "Webp", "Nsgif", "Tiff", "Heif", "Jp2k", "Ppm", "Rad"]
    // Loaders that call other libraries.
    + (ReducedProgram.isRunning ? [] : ["Openexr", "Svg", "Jxl"])

  /// Loads the library's modules, which are files. Must be called once, before the sandbox is closed.
  ///
  /// - Returns: `false` if the library cannot be used.
  public static func start() -> Bool {
    // Libraries report errors by return values; their warnings would fill the log.
    unsafe g_log_set_default_handler({ _, _, _, _ in }, nil)
    let modules = modules
    // Prevents the loading of all modules: those for other formats load libraries that take a third of the startup.
    if !modules.isEmpty { unsafe g_setenv("VIPSHOME", "/nonexistent", 1) }
    guard unsafe vips_init("ffconvert") == 0 else { return false }
    for module in modules { _ = unsafe g_module_open(module, G_MODULE_BIND_LAZY) }
    // Since Debian 13, the coders of libheif are files, which it otherwise loads when one is first used.
    _ = unsafe heif_init(nil)
    // One job runs at a time, and no result is needed twice. The pool of workers uses all cores.
    vips_concurrency_set(1)
    vips_cache_set_max(0)
    // Images larger than this would be decompressed into a temporary file, which a worker cannot create.
    unsafe g_setenv("VIPS_DISC_THRESHOLD", "1024g", 1)
    unsafe vips_operation_block_set("VipsForeignLoad", 1)
    for loader in loaders { unsafe vips_operation_block_set("VipsForeignLoad\(loader)", 0) }
    return true
  }

  /// Returns whether a loader, by the name of its class, is permitted.
  static func isPermitted(_ loader: String) -> Bool {
    loaders.contains { loader.hasPrefix("VipsForeignLoad\($0)") }
  }

  /// The files of the required libvips modules, in a directory next to the library. Empty if there is no such
  /// directory.
  private static var modules: [String] {
    var library = unsafe ffvips_place()
    guard let symbol = unsafe dlsym(nil, "vips_init"), unsafe ffvips_find(symbol, &library) != 0,
      let name = unsafe library.file
    else { return [] }
    let folder = unsafe String(cString: name).split(separator: "/").dropLast().joined(separator: "/")
    let version = "\(vips_version(0)).\(vips_version(1))"
    return ["heif", "jxl"].map { "/\(folder)/vips-modules-\(version)/vips-\($0).so" }
      .filter { unsafe access($0, R_OK) == 0 }
  }

  /// Returns libvips' error message and clears it.
  static func takeError() -> String {
    defer { vips_error_clear() }
    return unsafe vips_error_buffer().map { unsafe String(cString: $0) } ?? ""
  }
}
