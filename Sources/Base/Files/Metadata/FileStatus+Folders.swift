public import Bytes
internal import CPosix

extension FileStatus {
  /// Returns whether a directory's entry may have `count` subdirectories. Returns false at a mount point, whose file
  /// system may not respond.
  public static func mayHoldFolders(_ count: Int, in name: FileName, of folder: Int32) -> Bool {
    unsafe name.withCString { unsafe ffmount_may_hold_folders(folder, $0, UInt32(clamping: count)) != 0 }
  }
}
