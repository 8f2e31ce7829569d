internal import CFileSystems
internal import CSevenZip
internal import Catalogue
internal import Glibc
internal import WorkerKit

/// The libraries that read disk images, which have to be loaded before the sandbox closes.
public enum DiskLibrary {
  // Safe for any thread: written once by `start`, before the process has another thread.
  private nonisolated(unsafe) static var isLoaded = false

  /// Loads the libraries that are installed.
  public static func start() {
    // The library decodes some names by the locale.
    _ = unsafe setlocale(LC_CTYPE, "C.UTF-8")
    if let path = SevenZip.library { unsafe isLoaded = ffmount_7z_load(path) }
    _ = unsafe ffmount_fs_load(SleuthKit.library)
  }

  /// Returns 7-Zip's number of a format. Throws if 7-Zip does not have it.
  static func number(of format: DiskFormat) throws(JobFailure) -> Int32 {
    guard unsafe isLoaded else {
      throw JobFailure(.unsupported, "needs 7-Zip 23 or later (apt install \(SevenZip.package))")
    }
    let number = unsafe ffmount_7z_format(format.rawValue)
    guard number >= 0 else { throw JobFailure(.unsupported, "is of a format that this version of 7-Zip does not read") }
    return number
  }
}
