internal import Bytes
internal import Glibc

/// The installed library of 7-Zip, which reads disk images and encrypted archives.
public enum SevenZip {
  /// The paths in Debian 13 (package 7zip), in Debian 12 (p7zip-full), and in other distributions.
  private static let paths = [
    "/usr/lib/7zip/7z.so", "/usr/lib/p7zip/7z.so", "/usr/libexec/7zip/7z.so", "/usr/lib64/7zip/7z.so",
    "/usr/libexec/p7zip/7z.so",
  ]

  /// The path of the library. `nil` if it is not installed.
  ///
  /// The library of a download comes first: that of the system may need later versions of other libraries.
  public static let library = (paths.compactMap(PackagedData.path) + paths).first { unsafe access($0, R_OK) == 0 }

  /// The Debian package with the library: 7zip has it from Debian 13 on.
  public static let package = "p7zip-full"
}
