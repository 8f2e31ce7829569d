internal import Glibc

/// The initialization that must precede closing the sandbox.
public enum ArchiveLibrary {
  /// Sets up the conversion of names in archives to UTF-8.
  public static func start() {
    _ = unsafe setlocale(LC_CTYPE, "C.UTF-8")
    // The converters are loaded from files and stay loaded while they are open.
    for name in [
      "CP932", "CP437", "CP850", "CP866", "CP1251", "CP1252", "EUC-JP", "BIG5", "GBK", "UTF-16BE", "UTF-16LE",
    ] {
      for pair in [("UTF-8", name), (name, "UTF-8")] { _ = unsafe iconv_open(pair.0, pair.1) }
    }
  }
}
