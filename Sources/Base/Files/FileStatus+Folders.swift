public import Bytes
internal import CPosix

extension FileStatus {
  /// Whether an entry of a folder may have `count` folders in it. False where another file system is mounted: it may not
  /// answer.
  public static func mayHoldFolders(_ count: Int, in name: FileName, of folder: Int32) -> Bool {
    unsafe name.withCString { unsafe ffmount_may_hold_folders(folder, $0, UInt32(clamping: count)) != 0 }
  }
}
