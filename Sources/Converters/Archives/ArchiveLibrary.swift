internal import Glibc

/// What has to be there before the sandbox closes.
public enum ArchiveLibrary {
  /// Has names in archives converted to UTF-8.
  public static func start() {
    _ = unsafe setlocale(LC_CTYPE, "C.UTF-8")
    // What converts from these comes from files, and stays as long as it is open.
    for name in [
      "CP932", "CP437", "CP850", "CP866", "CP1251", "CP1252", "EUC-JP", "BIG5", "GBK", "UTF-16BE", "UTF-16LE",
    ] {
      for pair in [("UTF-8", name), (name, "UTF-8")] { _ = unsafe iconv_open(pair.0, pair.1) }
    }
  }
}
