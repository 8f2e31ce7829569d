/// The library of The Sleuth Kit, which reads NTFS and exFAT, and finds deleted files.
public enum SleuthKit {
  /// The library's name, which the system's linker finds, or that of a download.
  public static let library = "libtsk.so.19"

  /// The Debian package with the library: libtsk19t64 from Debian 13 on.
  public static let package = "sleuthkit"
}
